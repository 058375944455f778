import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { sessionList, spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { Random } from '../../scripts/random.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { seedOf } from '../harness/seed.js';
import { storedSpan } from '../harness/span.js';
import { statementOf } from '../harness/statement.js';
import { openStore, remove, reopenStore, rowsOf, type OpenedStore } from '../harness/trace-store.js';
import { watched } from '../harness/watched-client.js';

const SEED = seedOf('FORGOTTEN_SEED');
const ALL = new URLSearchParams({ limit: '500' });
/** Where something may be left of a trace or session, and the column that names it. */
const REMAINS = {
  facts: 'trace_id',
  traces: 'id',
  trace_starts: 'id',
  session_traces: 'trace_id',
  superseded: 'project_id',
  session_statements: 'session_id',
  sessions: 'id',
  session_starts: 'id',
} as const;

describe('what is left of deleted traces and sessions', function () {
  // An erasure is some thirty mutations, each of which ClickHouse begins when it pleases.
  this.timeout(300_000);
  let opened: OpenedStore;
  before(async () => {
    opened = await openStore();
  });
  after(() => opened.dispose());

  /** Closes the store, for one to take its place that calls this before each command and waits for it. */
  async function lookingAt(look: (statement: string) => Promise<void>): Promise<void> {
    await opened.store.close();
    opened = { ...opened, store: await reopenStore(watched(opened.client, look)) };
  }

  const send = (projectId: string, ...spans: Span[]) => opened.store.log.append({ projectId, spans });
  const state = (projectId: string, id: string) =>
    opened.store.log.append({
      projectId,
      sessions: [{ id, name: 'stated', tags: {}, attributes: {} }],
    });

  async function shown(projectId: string) {
    const { lists } = opened.store;
    return {
      spans: await rowsOf(await lists.spans(projectId, parseListQuery(spanList, ALL))),
      traces: await rowsOf<{ id: string; span_count: number; cost: number; created_at: string }>(
        await lists.traces(projectId, parseListQuery(traceList, ALL)),
      ),
      sessions: await rowsOf<{ id: string; trace_count: number; cost: number; created_at: string }>(
        await lists.sessions(projectId, parseListQuery(sessionList, ALL)),
      ),
    };
  }

  /** Tables with rows of a project, and how many. */
  async function left(projectId: string): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const table of Object.keys(REMAINS)) {
      const [row] = await opened.client.query<{ count: string }>(
        statementOf(`SELECT toString(count()) AS count FROM ${table} WHERE project_id = '${projectId}'`),
      );
      if (row?.count !== '0') counts[table] = Number(row?.count);
    }
    return counts;
  }

  async function named(id: string): Promise<string[]> {
    const found: string[] = [];
    for (const [table, column] of Object.entries(REMAINS)) {
      const rows = await opened.client.query(
        statementOf(`SELECT 1 FROM ${table} WHERE toString(${column}) = '${id}' LIMIT 1`),
      );
      if (rows.length > 0) found.push(table);
    }
    return found;
  }

  /** What a recount finds wrong. */
  async function wrong(): Promise<string[]> {
    const audits = await opened.store.mendingAudits({ extent: { sample: null, seed: 1 }, isKnown: () => true });
    const found: string[] = [];
    for (const audit of audits)
      for await (const { suspects } of audit.pages())
        found.push(...suspects.map(({ flaw, id, detail }) => `${flaw} ${id} ${detail ?? ''}`));
    return found;
  }

  it('goes when it is erased, and nothing else changes', async () => {
    const projectId = randomUUID();
    const [emptied, shared, stated] = [randomUUID(), randomUUID(), randomUUID()];
    const going = [
      storedSpan({ session_id: emptied, cost: 1 }),
      storedSpan({ session_id: emptied, session_name: 'a name', trace_tags: { a: 'b' } }),
      storedSpan(),
    ] as const;
    const older = storedSpan({ session_id: shared, cost: 2 });
    const staying = [storedSpan({ session_id: shared, cost: 3 }), storedSpan({ cost: 4 })];
    // The session is told by its first trace when it was made: that one is remembered.
    await send(projectId, older);
    await send(projectId, ...going, ...staying);
    await send(projectId, { ...going[2], cost: 5 });
    await state(projectId, stated);
    await remove(opened.store, projectId, 'session', emptied);
    await remove(opened.store, projectId, 'session', stated);
    for (const { trace_id } of [going[2], older]) await remove(opened.store, projectId, 'trace', trace_id);
    const before = await shown(projectId);
    expect(before.traces).to.have.length(2);
    expect(before.sessions.map(({ id, trace_count }) => ({ id, trace_count }))).to.deep.equal([
      { id: shared, trace_count: 1 },
    ]);
    expect(await named(going[0].trace_id)).not.to.deep.equal([]);

    await opened.store.erase();
    expect(await shown(projectId)).to.deep.equal(before);
    for (const id of [...going.map(({ trace_id }) => trace_id), emptied, stated])
      expect(await named(id), id).to.deep.equal([]);
    expect(await named(older.trace_id)).to.include.members(['facts', 'traces', 'session_traces']);
    expect(await wrong()).to.deep.equal([]);

    await remove(opened.store, projectId, 'session', shared);
    await remove(opened.store, projectId, 'trace', staying[1]?.trace_id ?? '');
    await opened.store.erase();
    expect(await left(projectId)).to.deep.equal({});
  });

  it('does not come back while the row goes that says it is gone, which ClickHouse may delete before the earlier ones', async () => {
    const projectId = randomUUID();
    const session = randomUUID();
    const staying = storedSpan({ session_id: session, cost: 1 });
    const going = storedSpan({ session_id: session, cost: 2 });
    const LATEST = { traces: 'gone', session_traces: 'NOT (named OR member)', sessions: 'gone' } as const;
    const tables = Object.keys(LATEST);
    const merges = (most: string) =>
      tables.map((table) => opened.client.command(statementOf(`ALTER TABLE ${table} ${most}`)));
    const looks: unknown[] = [];
    const written = { trace_id: staying.trace_id, session_id: session, cost: 4 };
    await lookingAt(async (statement) => {
      const { table = '', condition = '' } =
        /^DELETE FROM (?<table>\w+) WHERE (?<condition>.*)$/s.exec(statement)?.groups ?? {};
      if (!(table in LATEST) || !condition.includes(projectId)) return;
      // The part with the latest row is done first.
      const first = `DELETE FROM ${table} WHERE (${condition}) AND ${LATEST[table as keyof typeof LATEST]}`;
      await opened.client.command(statementOf(first), { settings: { lightweight_deletes_sync: '2' } });
      await send(projectId, storedSpan(written));
      await opened.store.rollUp();
      looks.push(await shown(projectId));
    });
    // Earlier rows stay where they are.
    await Promise.all(merges('MODIFY SETTING max_bytes_to_merge_at_max_space_in_pool = 1'));
    for (const span of [staying, going]) {
      await send(projectId, span);
      await opened.store.rollUp();
    }
    await remove(opened.store, projectId, 'trace', going.trace_id);
    await opened.store.rollUp();
    const rows = await opened.client.query(
      statementOf(`SELECT 1 FROM traces WHERE toString(id) = '${going.trace_id}'`),
    );
    expect(rows.length, 'rows of the trace that went').to.be.greaterThan(1);

    await opened.store.erase();
    expect(looks.length).to.be.greaterThan(1);
    looks.push(await shown(projectId));
    for (const [at, look] of looks.entries()) {
      const { traces, sessions } = look as Awaited<ReturnType<typeof shown>>;
      const cost = 1 + 4 * Math.min(at + 1, looks.length - 1);
      expect(traces.map(({ id, cost: each }) => ({ id, cost: each }))).to.deep.equal([{ id: staying.trace_id, cost }]);
      expect(sessions.map(({ trace_count, cost: each }) => ({ trace_count, cost: each }))).to.deep.equal([
        { trace_count: 1, cost },
      ]);
    }
    expect(await named(going.trace_id)).to.deep.equal([]);
    expect(await wrong()).to.deep.equal([]);
    await Promise.all(merges('RESET SETTING max_bytes_to_merge_at_max_space_in_pool'));
  });

  it('does not tell when a session was made that comes back meanwhile', async () => {
    const projectId = randomUUID();
    const session = randomUUID();
    const going = storedSpan({ session_id: session });
    const again = storedSpan({ session_id: session });
    let isAgain = false;
    await lookingAt(async (statement) => {
      if (isAgain || !statement.startsWith('DELETE FROM session_traces')) return;
      isAgain = true;
      await send(projectId, again);
      await opened.store.rollUp();
    });
    await send(projectId, going);
    await remove(opened.store, projectId, 'trace', going.trace_id);
    await opened.store.erase();
    expect(isAgain).to.equal(true);
    const { traces, sessions } = await shown(projectId);
    expect(sessions).to.have.length(1);
    expect(sessions[0]).to.include({ id: session, created_at: traces[0]?.created_at });
    expect(await wrong()).to.deep.equal([]);
  });

  it('goes also where versions are ahead of the time of day', async () => {
    const projectId = randomUUID();
    const now = Date.now;
    Date.now = () => now() + 3_600_000;
    try {
      await send(projectId, storedSpan());
    } finally {
      Date.now = now;
    }
    const later = storedSpan({ session_id: randomUUID() });
    await send(projectId, later);
    for (const { id } of (await shown(projectId)).traces) await remove(opened.store, projectId, 'trace', id);
    await opened.store.erase();
    expect(await left(projectId)).to.deep.equal({});
    const spans = statementOf(`SELECT 1 FROM spans WHERE project_id = '${projectId}'`);
    expect(await opened.client.query(spans)).to.deep.equal([]);
  });

  it('is merged with what replaced it, also where a mutation renames parts that are to be merged', async () => {
    const projectId = randomUUID();
    await opened.store.close();
    let merges = 0;
    const command: ClickHouseClient['command'] = async (statement, options) => {
      const isMerge = statement.render().text.startsWith('OPTIMIZE TABLE traces ');
      if (isMerge) merges += 1;
      await (isMerge && merges === 1
        ? opened.client.command(statementOf('ALTER TABLE traces DELETE WHERE 0 SETTINGS mutations_sync = 2'))
        : opened.client.command(statement, options));
    };
    opened = { ...opened, store: await reopenStore({ ...watched(opened.client, () => undefined), command }) };
    const setting = 'SETTING max_bytes_to_merge_at_max_space_in_pool';
    await opened.client.command(statementOf(`ALTER TABLE traces MODIFY ${setting} = 1`));
    const span = storedSpan();
    for (const cost of [1, 2]) {
      await send(projectId, { ...span, cost });
      await opened.store.rollUp();
    }
    await opened.store.erase();
    await opened.client.command(statementOf(`ALTER TABLE traces RESET ${setting}`));
    expect(merges).to.be.greaterThan(1);
    const rows = statementOf(`SELECT cost FROM traces WHERE project_id = '${projectId}'`);
    expect(await opened.client.query(rows)).to.deep.equal([{ cost: 2 }]);
  });

  it('is not what is sent again: that counts from then on', async () => {
    const projectId = randomUUID();
    const span = storedSpan({ session_id: randomUUID(), cost: 1 });
    await send(projectId, ...Array.from({ length: 5 }, (_, at) => ({ ...span, id: randomUUID(), started_at: at })));
    const [first] = (await shown(projectId)).traces;
    await remove(opened.store, projectId, 'trace', span.trace_id);
    await opened.store.erase();
    expect(await named(span.trace_id)).to.deep.equal([]);
    await send(projectId, span);
    const { traces, sessions } = await shown(projectId);
    expect(traces[0]).to.include({ id: span.trace_id, span_count: 1, cost: 1 });
    expect(String(traces[0]?.created_at) > String(first?.created_at), 'made again').to.equal(true);
    expect(sessions[0]).to.include({ id: span.session_id, trace_count: 1 });
    await opened.store.rollUp();
    expect((await shown(projectId)).traces).to.deep.equal(traces);
    expect(await wrong()).to.deep.equal([]);
  });

  it('does not hide what is computed after it of rows from before versions were numbered', async () => {
    const projectId = randomUUID();
    const session = randomUUID();
    const spans = Array.from({ length: 3 }, () => storedSpan({ session_id: session, cost: 1 }));
    await send(projectId, ...spans);
    await opened.store.rollUp();
    // As they were: the sum of the versions of all facts, twice, and one.
    for (const table of ['traces', 'session_traces', 'sessions']) {
      const old = "toUInt128('123456789012345678901')";
      await opened.client.command(
        statementOf(
          `INSERT INTO ${table} SELECT * REPLACE (${old} AS ver) FROM ${table} FINAL WHERE project_id = '${projectId}'`,
        ),
      );
      await opened.client.command(
        statementOf(`DELETE FROM ${table} WHERE project_id = '${projectId}' AND ver != ${old}`),
      );
    }
    expect(await wrong()).to.deep.equal([]);
    await send(projectId, ...spans.map(({ trace_id }) => storedSpan({ trace_id, session_id: session, cost: 2 })));
    await opened.store.rollUp();
    const { traces, sessions } = await shown(projectId);
    expect(traces.map(({ cost }) => cost)).to.deep.equal([3, 3, 3]);
    expect(sessions).to.have.length(1);
    expect(sessions[0]).to.include({ trace_count: 3, cost: 9 });
    expect(await wrong()).to.deep.equal([]);
  });

  it(`may go at any time while clients write and delete, FORGOTTEN_SEED=${SEED}`, async () => {
    const dice = new Random(SEED);
    const projectId = randomUUID();
    const traces = Array.from({ length: 12 }, () => randomUUID());
    const sessions = Array.from({ length: 3 }, () => randomUUID());
    /** Spans that have to be there, by trace. */
    const there = new Map<string, Set<string>>(traces.map((id) => [id, new Set()]));
    const client = async (own: readonly string[]) => {
      for (let step = 0; step < 20; step += 1) {
        const trace = own[dice.whole(0, own.length - 1)] ?? '';
        if (dice.whole(0, 2) === 0) {
          await remove(opened.store, projectId, 'trace', trace);
          there.get(trace)?.clear();
        } else {
          const span = storedSpan({ trace_id: trace, session_id: sessions[dice.whole(0, 2)] ?? null, cost: 1 });
          await send(projectId, span);
          there.get(trace)?.add(span.id);
        }
      }
    };
    const erasing = async () => {
      for (let turn = 0; turn < 2; turn += 1) await opened.store.erase();
    };
    await Promise.all([erasing(), client(traces.slice(0, 6)), client(traces.slice(6))]);
    const found = (await shown(projectId)).traces.map(({ id, span_count, cost }) => ({ id, span_count, cost }));
    const expected = [...there].flatMap(([id, { size }]) => (size > 0 ? [{ id, span_count: size, cost: size }] : []));
    expect(found).to.have.deep.members(expected);
    expect(await wrong()).to.deep.equal([]);
    for (const id of sessions) await remove(opened.store, projectId, 'session', id);
    for (const id of traces) await remove(opened.store, projectId, 'trace', id);
    await opened.store.erase();
    expect(await left(projectId)).to.deep.equal({});
  });
});
