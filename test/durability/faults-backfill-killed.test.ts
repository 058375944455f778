import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { createLogger } from '../../src/engine/signals/logger.js';
import { connect } from '../../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { migrate } from '../../src/engine/traces/migrations.js';
import { readMigrationFiles } from '../../src/engine/files/migration-files.js';
import { schemaDirectory } from '../../src/engine/files/schema-files.js';
import { uuid } from '../harness/checked-api.js';
import { PROJECT_ID, unhurried, type Program } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { statementOf } from '../harness/statement.js';

const SPANS = 5_000;
const TRACES = 50;
/** Every fifth span calls no model. */
const CALLS = (SPANS * 4) / 5;
const files = readMigrationFiles(schemaDirectory('clickhouse'));
const BEFORE = files.findIndex(({ name }) => name === 'calls');

/** Spans as the releases before the columns have them, on disk and rolled up. */
async function storeOldSpans(dataDir: string): Promise<void> {
  const logger = createLogger({ level: 'silent', format: 'json' });
  const path = join(dataDir, 'clickhouse');
  const engine = await startEngine({ path, database: 'spanhouse', memoryMb: 1024, maxReadSeconds: 30, logger });
  const client = connect(engine.endpoint);
  await migrate(client, files.slice(0, BEFORE), null);
  const id = (kind: number, of: string) =>
    `toUUID(concat('0000000${kind}-0000-4000-8000-', leftPad(toString(${of}), 12, '0')))`;
  await client.command(
    statementOf(`INSERT INTO spans (ver, project_id, trace_id, id, session_id, name, kind, status, started_at, cost, cost_calculated, payload, input_bytes, no_output, attributes)
     SELECT 30000000000000 + number, '${PROJECT_ID}', ${id(1, `number % ${TRACES}`)}, ${id(2, 'number')}, ${id(3, '0')}, 'old',
       if(number % 5 = 0, 'generic', 'llm'), 'ok', toDateTime64('2026-01-01 00:00:00', 6, 'UTC') + number % 7, if(number % 5 = 1, 0.5, NULL), number % 5 = 1,
       'in and out', 2, 0,
       if(number % 5 = 0, '{"any":"thing"}', '{"provider":"acme","model":"acme/one","inputTokens":"10","outputTokens":2,"zeroeval":{"task":"greeting"}}')
     FROM numbers(${SPANS})`),
  );
  await client.command(
    statementOf(`INSERT INTO touch_traces SELECT DISTINCT project_id, trace_id, 40000000000000, 1 FROM spans`),
  );
  await client.command(
    statementOf(
      `INSERT INTO touch_sessions (project_id, session_id) SELECT DISTINCT project_id, session_id FROM session_traces`,
    ),
  );
  await client.close();
  await engine.stop();
}

const spanId = (number: number) =>
  uuid(0)
    .replace(/^0{8}/, '00000002')
    .replace(/0{12}$/, String(number).padStart(12, '0'));
const traceId = (number: number) => spanId(number).replace(/^00000002/, '00000001');

describe('filling in the columns of older spans', () => {
  let programs: Programs;
  before(async () => {
    programs = await Programs.makeEmpty();
    await storeOldSpans(programs.dataDir);
  });
  after(() => programs.dispose());

  const get = async (program: Program, path: string) => {
    const { status, json } = await program.request('GET', path);
    expect(status, path).to.equal(200);
    return json;
  };
  const spansOf = (program: Program, number: number) =>
    get(program, `/spans?trace_id=${traceId(number)}&sort_order=asc`) as Promise<Record<string, any>[]>;
  const counted = async (program: Program, query: string) => {
    const response = await fetch(`${program.url}/spans?limit=1&count=true&fields=id&${query}`, {
      headers: { authorization: `Bearer ${program.key}` },
    });
    return Number(response.headers.get('x-total-count'));
  };
  const logged = (program: Program) => program.log.filter((line) => line.includes('from before an upgrade'));
  const filled = async (program: Program) => {
    const metrics = await (await fetch(`${program.url}/metrics`)).text();
    return Number(/^spanhouse_backfilled_spans_total (\d+)/m.exec(metrics)?.[1]);
  };

  it('goes on after a kill, changes nothing else, and loses to what clients write', async () => {
    const first = await programs.start();
    const before = await spansOf(first, 1);
    // Sent anew, and deleted, while older versions of them are being filled in.
    const sent = {
      id: spanId(49),
      trace_id: traceId(49),
      name: 'new',
      started_at: '2026-01-02T00:00:00Z',
      kind: 'llm',
    };
    await first.request('POST', '/spans', [{ ...sent, attributes: { model: 'two', inputTokens: 1 } }]);
    await first.request('DELETE', `/spans/${spanId(48)}`);
    while ((await counted(first, 'providers=acme')) === 0) await sleep(5);
    await first.destroy();
    expect(logged(first), 'the kill came in the middle').to.have.length(1);

    const second = await programs.start();
    const deadline = performance.now() + unhurried(30_000);
    while (logged(second).length < 2 && performance.now() < deadline) await sleep(50);
    expect(logged(second), second.complaints()).to.have.length(2);
    expect(await filled(second)).to.be.within(1, CALLS - 1);
    expect(await counted(second, 'providers=acme&models=acme/one&prompt_slug=greeting')).to.equal(CALLS - 2);
    expect(await counted(second, 'models=two')).to.equal(1);
    for (const [index, span] of (await spansOf(second, 1)).entries()) {
      const says = { provider: 'acme', model: 'one', input_tokens: 10, output_tokens: 2, prompt_slug: 'greeting' };
      expect(span).to.deep.equal({ ...before[index], ...(span['kind'] === 'llm' ? says : {}) });
    }
    const [trace] = await get(second, `/traces?id=${traceId(1)}`);
    expect(trace).to.include({ span_count: 100, input_tokens: 1000, output_tokens: 200, cost: 50 });
    const [session] = await get(second, '/sessions?models=acme/one');
    expect(session).to.include({ input_tokens: (CALLS - 2) * 10 + 1, output_tokens: (CALLS - 2) * 2 });
    expect(await get(second, '/spans?created_after=2026-01-01&fields=name')).to.deep.equal([{ name: 'new' }]);
    second.signal('SIGTERM');
    await second.ended;
  }).timeout(120_000);

  it('does nothing once all is done', async () => {
    const program = await programs.start();
    expect(await counted(program, 'providers=acme')).to.equal(CALLS - 2);
    expect(await filled(program)).to.equal(0);
    expect(logged(program)).to.deep.equal([]);
  }).timeout(60_000);
});
