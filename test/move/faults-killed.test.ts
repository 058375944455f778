import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { addressed, LIMITS, silent, type TestEngine } from '../engine/contract/engines.js';
import { connect } from '../../src/engine/traces/clickhouse/client/client.js';
import { literal, sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { Deaths, KILLS } from '../harness/kills.js';
import { API_KEY } from '../harness/program.js';
import { Programs } from '../harness/programs.js';
import { makeProject } from '../harness/projects.js';
import { until } from '../harness/until.js';
import { rowsOf } from '../backup/answers.js';
import { bootServer, send } from '../harness/server.js';
import { move, settingsFor, spawnMove } from './command.js';

const DATABASE = 'killed_house';
/** Spans of a trace that is written at once. */
const TOGETHER = 4;
/** How long a move takes, about, in which it is killed. */
const MOVE_MS = 2_000;

for (const to of ['a ClickHouse server', 'the embedded engine'])
  describe(`a move to ${to} that is killed ${KILLS} times`, function () {
    this.timeout(120_000 + KILLS * 60_000);
    killed(to === 'the embedded engine');
  });

function killed(toEmbedded: boolean): void {
  let engine: TestEngine;
  let programs: Programs;
  /** Of the command. */
  let settings: Record<string, string>;
  const acknowledged = new Map<string, number>();
  const deleted = new Set<string>();

  before(async () => {
    engine = await addressed();
    settings = settingsFor(engine, DATABASE);
    // Where the embedded engine has tables already, no spans go.
    programs = await (toEmbedded ? Programs.makeEmpty() : Programs.make());
  });
  after(async () => {
    await programs.dispose();
    await engine.stop();
  });

  const to = () => (toEmbedded ? 'embedded' : (settings['CLICKHOUSE_URL'] ?? ''));
  const beforehand = () => (toEmbedded ? settings : {});
  const afterwards = () => (toEmbedded ? { CLICKHOUSE_DATABASE: DATABASE } : settings);
  const markFile = () => join(programs.dataDir, 'move.json');
  const mark = () => JSON.parse(readFileSync(markFile(), 'utf8')) as { done_at: string | null };
  const isDone = () => existsSync(markFile()) && mark().done_at !== null;

  /** Writes traces, and deletes some, until it is told to stop, whoever is killed meanwhile. */
  function busy(url: () => string) {
    const state = { stopped: false };
    const write = async () => {
      for (let at = 0; !state.stopped; at += 1) {
        const trace_id = randomUUID();
        const body = Array.from({ length: TOGETHER }, () => ({
          trace_id,
          name: 'busy',
          started_at: Date.now(),
          cost: 1,
        }));
        const ask = (method: string, path: string, parts: object) =>
          send(url() + path, method, { key: API_KEY, ...parts }).catch(() => ({ status: 0 }));
        if ((await ask('POST', '/spans', { body })).status === 200) acknowledged.set(trace_id, TOGETHER);
        if (at % 10 === 0) {
          // Whether one that was not acknowledged is deleted is not known: it is either whole or gone.
          acknowledged.delete(trace_id);
          if ((await ask('DELETE', `/traces/${trace_id}`, {})).status === 204) deleted.add(trace_id);
        }
        await sleep(20);
      }
    };
    const written = write();
    return {
      async stop() {
        state.stopped = true;
        await written;
      },
    };
  }

  it('goes on when it is run again, and loses, doubles and revives nothing', async () => {
    const deaths = new Deaths(`move to ${toEmbedded ? 'the embedded engine' : 'a ClickHouse server'}`);
    let program = await programs.start(beforehand());
    const writing = busy(() => program.url);
    const gone = makeProject(programs.dataDir);
    const span = { trace_id: randomUUID(), name: 'of a deleted project', started_at: Date.now() };
    expect((await send(`${program.url}/spans`, 'POST', { body: [span], key: gone.key })).status).to.equal(200);
    try {
      for (let kill = 0; kill < KILLS && !isDone(); kill += 1) {
        const command = spawnMove(programs.dataDir, to(), settings);
        const ended = once(command, 'exit');
        await until('a move begins', () => existsSync(markFile()) || command.exitCode !== null);
        // From the beginning on to near the end.
        await sleep(((kill + 0.5) * MOVE_MS) / KILLS);
        if (kill % 2 === 0) {
          command.kill('SIGKILL');
          await ended;
          if (kill === 0) await removeProject(program.url, gone);
        } else {
          program.signal('SIGKILL');
          await program.ended;
          await ended;
          if (!isDone()) program = await programs.start(beforehand());
        }
        deaths.add(!isDone());
      }
      if (!isDone()) {
        await program.ready();
        await move(programs.dataDir, to(), settings);
      }
    } finally {
      await writing.stop();
    }
    program.signal('SIGKILL');
    await program.ended;
    await expectWhole(gone.projectId);
    deaths.report(`; ${acknowledged.size} traces moved, none lost`);
  });

  async function removeProject(url: string, { projectId, key }: { projectId: string; key: string }): Promise<void> {
    expect((await send(`${url}/projects/${projectId}`, 'DELETE', { key })).status).to.be.within(200, 299);
  }

  async function expectWhole(gone: string): Promise<void> {
    const server = await bootServer({
      dataDir: programs.dataDir,
      env: { ...afterwards(), SPANHOUSE_INIT_PROJECT_ID: undefined, SPANHOUSE_INIT_API_KEY: undefined },
    });
    try {
      const spans: { id: string; trace_id: string }[] = await rowsOf(server, 'spans', API_KEY);
      const counts = new Map<string, number>();
      for (const { trace_id } of spans) counts.set(trace_id, (counts.get(trace_id) ?? 0) + 1);
      expect(new Set(spans.map(({ id }) => id)).size, 'spans, each once').to.equal(spans.length);
      for (const [trace, count] of acknowledged) expect(counts.get(trace), `spans of trace ${trace}`).to.equal(count);
      for (const trace of deleted) expect(counts.has(trace), `trace ${trace} was deleted`).to.equal(false);
      const traces: { id: string; span_count: number; cost: number }[] = await rowsOf(server, 'traces', API_KEY);
      const figures = Object.fromEntries(traces.map(({ id, span_count, cost }) => [id, [span_count, cost]]));
      expect(figures).to.deep.equal(Object.fromEntries([...counts].map(([id, count]) => [id, [count, count]])));
      expect(acknowledged.size).to.be.above(KILLS);
      expect(deleted.size).to.be.above(0);
    } finally {
      await server.stop();
    }
    await expectNothingOf(gone);
  }

  async function expectNothingOf(project: string): Promise<void> {
    const { endpoint, stop } = await target();
    const client = connect({ ...endpoint, database: DATABASE });
    try {
      const [row] = await client.query<{ rows: string }>(
        sql`SELECT toString((SELECT count() FROM spans WHERE project_id = ${literal(project)})
         + (SELECT count() FROM facts WHERE project_id = ${literal(project)})) AS rows`,
      );
      expect(row?.rows).to.equal('0');
    } finally {
      await client.close();
      await stop();
    }
  }

  /** Where the spans are in the end, with no server on it. */
  async function target(): Promise<TestEngine> {
    if (!toEmbedded) return { endpoint: engine.endpoint, stop: async () => undefined };
    const path = join(programs.dataDir, 'clickhouse');
    const embedded = await startEngine({ ...LIMITS, database: DATABASE, path, logger: silent });
    return { endpoint: embedded.endpoint, stop: () => embedded.stop() };
  }
}
