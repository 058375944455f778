import { execFile } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { generateTrace, SPANS_PER_TRACE } from '../../bench/data.js';
import { median, percentile } from '../../bench/figures.js';
import { listQueries } from '../../bench/list-queries.js';
import { fill } from '../../bench/fill.js';
import { PROJECT_ID, storedSpans } from '../../bench/rows.js';
import { connect } from '../../src/engine/traces/clickhouse/client/client.js';
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { highestVersion, readWatermark } from '../../src/engine/traces/rollup/recovery.js';
import { bootServer, type TestServer } from '../harness/server.js';

const run = promisify(execFile);
const program = fileURLToPath(new URL('../../bench/main.js', import.meta.url));
const bench = async (...args: string[]) => (await run(process.execPath, [program, ...args])).stdout;

describe('the data of the bench', () => {
  const traces = Array.from({ length: 400 }, (_none, number) => generateTrace(1, number));
  const spans = traces.flat();

  it('is the same for a seed and a number, whatever was generated before', () => {
    expect(generateTrace(1, 7)).to.deep.equal(traces[7]);
    expect(generateTrace(2, 7)).not.to.deep.equal(traces[7]);
  });

  it('has twelve spans per trace, four traces per session, and no id twice', () => {
    for (const trace of traces) expect(trace).to.have.lengthOf(SPANS_PER_TRACE);
    expect(new Set(spans.map(({ id }) => id)).size).to.equal(spans.length);
    expect(new Set(spans.map(({ session_id }) => session_id)).size).to.equal(traces.length / 4);
  });

  it('has about 2.4 KB per span and two percent errors', () => {
    const bytes = spans.reduce((sum, span) => sum + JSON.stringify(span).length, 0) / spans.length;
    expect(bytes).to.be.within(2300, 2500);
    const errors = spans.filter(({ status }) => status === 'error').length / spans.length;
    expect(errors).to.be.within(0.01, 0.03);
  });

  it('is accepted by the server, which knows the price of every model call', () => {
    const unpriced = storedSpans(spans).filter(({ kind, cost }) => kind === 'llm' && !(cost !== null && cost > 0));
    expect(unpriced.map(({ attributes }) => attributes['model'])).to.deep.equal([]);
  });
});

describe('figures of the bench', () => {
  it('are medians and percentiles of what was measured', () => {
    expect(median([9, 1, 5])).to.equal(5);
    expect(median([10, 2])).to.equal(2);
    const hundred = Array.from({ length: 100 }, (_none, index) => index + 1);
    expect([50, 95, 99, 100].map((share) => percentile(hundred, share))).to.deep.equal([50, 95, 99, 100]);
    expect(median([])).to.be.NaN;
  });

  it('have a name of their own for every query', () => {
    const id = '00000000-0000-4000-8000-000000000001';
    const names = listQueries(1000, { spanId: id, traceId: id, sessionId: id, user: 'u' }).map(({ name }) => name);
    expect(new Set(names).size).to.equal(names.length);
  });
});

describe('data that the bench fills in', () => {
  let server: TestServer;
  let left: { highest: number; watermark: number };

  before(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'spanhouse-test-'));
    await fill(dataDir, 2000, 1);
    left = await versionsIn(dataDir);
    server = await bootServer({ dataDir, env: { SPANHOUSE_INIT_PROJECT_ID: PROJECT_ID } });
  });
  after(() => server.dispose());

  const list = async (path: string) => {
    const { json, headers } = await server.request('GET', path);
    return { rows: json as Record<string, unknown>[], total: Number(headers.get('X-Total-Count')) };
  };

  it('leaves nothing to heal at the next start', () => {
    expect(left.highest).to.be.greaterThan(0);
    expect(left.watermark).to.equal(left.highest);
  });

  it('is what a server would have made of the same spans', async () => {
    const { rows: spans, total } = await list(
      '/spans?limit=10000&count=true&fields=trace_id,session_id,cost,has_error',
    );
    expect(total).to.equal(2000);
    const { rows: traces } = await list('/traces?limit=500');
    expect(traces).to.have.lengthOf(Math.ceil(2000 / SPANS_PER_TRACE));
    for (const trace of traces) {
      const own = spans.filter(({ trace_id }) => trace_id === trace['id']);
      expect(trace['span_count']).to.equal(own.length);
      expect(trace['session_id']).to.equal(own[0]?.['session_id']);
      expect(trace['error_count']).to.equal(own.filter(({ has_error }) => has_error === true).length);
      expect(trace['cost']).to.be.closeTo(
        own.reduce((sum, { cost }) => sum + Number(cost ?? 0), 0),
        1e-9,
      );
    }
    const { rows: sessions } = await list('/sessions?limit=500');
    expect(sessions).to.have.lengthOf(Math.ceil(traces.length / 4));
    for (const session of sessions)
      expect(session['trace_count']).to.equal(traces.filter(({ session_id }) => session_id === session['id']).length);
  });
});

async function versionsIn(dataDir: string) {
  const logger = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const path = join(dataDir, 'clickhouse');
  const engine = await startEngine({ path, database: 'spanhouse', memoryMb: 1024, maxReadSeconds: 30, logger });
  const client = connect(engine.endpoint);
  try {
    return { highest: await highestVersion(client), watermark: await readWatermark(client) };
  } finally {
    await client.close();
    await engine.stop();
  }
}

describe('npm run bench', () => {
  it('tells its commands and their options', async () => {
    expect(await bench('--help')).to.match(/ingest.*[\s\S]*lists/);
    expect(await bench('ingest', '--help')).to.match(/--spans <n>[\s\S]*--repetitions/);
    expect(await bench('lists', '--help')).to.match(/--compare <sizes>[\s\S]*--keep <dir>/);
  });

  it('measures ingest', async () => {
    const table = await bench('ingest', '--spans', '1200', '--singles', '300', '--repetitions', '1', '--no-write');
    for (const row of [
      'ratio to RowBinary',
      'one-span requests/s',
      'server process, peak memory',
      'JSON bytes per byte on disk',
      'ready on empty data',
    ])
      expect(table).to.match(new RegExp(`^ *(server, )?${row}.*\\d`, 'm'));
    expect(table).not.to.include('NaN');
  });

  it('measures lists on data that holds what it claims', async () => {
    const table = await bench('lists', '--spans', '2000', '--repetitions', '1', '--only', 'traces', '--no-write');
    const row = (name: string) => table.split('\n').find((line) => line.startsWith(`traces: ${name} `)) ?? '';
    for (const name of ['newest 50', 'of a session', 'has_error=true', 'by cost desc', 'created, last hundredth'])
      expect(row(name), name).to.match(/ \d[\d.,]* +\d[\d.,]* +\d[\d.,]* +(NOT )?met +\d/);
    expect(table).not.to.include('NaN');
  });
});
