import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sessionList, spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import type { SessionRead, SpanRead, TraceRead } from '../../src/engine/traces/model/list/fields.js';
import type { Page } from '../../src/engine/traces/model/list/lists.js';
import type { Condition } from '../../src/features/monitors/condition.js';
import { Measurer, MONITORED_LISTS } from '../../src/features/monitors/measurer.js';
import { parseListQuery, parseSelection } from '../../src/http/list-query.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import { createMetrics } from '../../src/engine/signals/metrics.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import type { TraceStore } from '../../src/engine/traces/trace-store.js';
import { quietSignals } from '../harness/signals.js';
import { storedSpan } from '../harness/span.js';
import { openStore, remove, reopenStore, rowsOf, type OpenedStore } from '../harness/trace-store.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import { statementOf } from '../harness/statement.js';

const PROJECT = randomUUID();
const MEGABYTES = 1024 * 1024;
const rollup = { maxMemoryBytes: 48 * MEGABYTES, retryMs: 300 };
const HEAVY_SPANS = 12;
/** Cannot be compressed, so that it takes its bytes wherever it is. */
const heavyTags = () => ({ heavy: randomBytes(2 * MEGABYTES).toString('hex') });

describe('what is too large to be recomputed', function () {
  this.timeout(120_000);
  let opened: OpenedStore;
  const metrics = createMetrics();
  const observer = quietSignals(metrics);

  beforeEach(async () => {
    opened = await openStore({ rollup, observer });
  });
  afterEach(() => opened.dispose());

  const write = (spans: Span[], projectId = PROJECT) => opened.store.log.append({ projectId, spans });

  /** One at a time, as all of them would be too large for one insert. */
  async function writeHeavy(trace_id: string, change: Partial<Span> = {}, count = HEAVY_SPANS): Promise<void> {
    for (let n = 0; n < count; n += 1)
      await write([
        storedSpan({ trace_id, cost: 1, trace_tags: { n: String(n) }, session_tags: heavyTags(), ...change }),
      ]);
  }

  const none = new URLSearchParams();
  // A list may have the memory for what a round has not: what is set aside shows after the round.
  const traces = async (store: TraceStore, projectId = PROJECT, filter = none) => {
    await store.rollUp();
    return store.lists.traces(projectId, parseListQuery(traceList, filter));
  };
  const sessions = async (store: TraceStore) => {
    await store.rollUp();
    return store.lists.sessions(PROJECT, parseListQuery(sessionList, none));
  };
  const spans = (store: TraceStore) =>
    store.lists.spans(PROJECT, parseListQuery(spanList, new URLSearchParams({ fields: 'id' })));

  // A purge's own count says nothing here: a round that tries what is set aside may record again what is just being purged.
  async function storedVersions(client: ClickHouseClient): Promise<number> {
    const [row] = await client.query<{ versions: number }>(sql`SELECT toUInt32(count()) AS versions FROM spans`);
    return row?.versions ?? 0;
  }

  async function gauges(): Promise<string[]> {
    const text = await metrics.registry.metrics();
    return text
      .split('\n')
      .filter((line) => line.startsWith('spanhouse_rollup_set_aside_') && !line.includes('_total'));
  }

  async function until(condition: () => Promise<boolean>): Promise<void> {
    while (!(await condition())) await sleep(50);
  }

  it('keeps monitors awake that may find it later, without a write', async () => {
    await writeHeavy(randomUUID());
    await opened.store.rollUp();
    const parse = (list: keyof typeof MONITORED_LISTS, query: string) =>
      parseSelection(MONITORED_LISTS[list], new URLSearchParams(query));
    const measurer = new Measurer({ statistics: opened.store.statistics, opinions: null as never, parse });
    const condition: Condition = {
      ...({ measure: 'count', list: 'traces', query: 'n=3', window_minutes: 5, score: null, judge_id: null } as const),
      ...({ compared_with: 'constant', operator: 'below', threshold: 1, recovery_threshold: 1 } as const),
      minimum_count: 0,
    };
    const length = 300e6;
    const window = { end: Date.now() * 1000, step: length, length, count: 1 };
    const look = async (projectId: string) => {
      const group = { projectId, list: 'traces', query: 'n=3', window_minutes: 5, conditions: [condition] } as const;
      const [measured] = await measurer.measureTogether([group], window);
      return [measured?.figures[0]?.[0]?.value, measured?.isEmpty];
    };
    expect(await look(PROJECT)).to.deep.equal([0, false]);
    expect(await look(randomUUID())).to.deep.equal([0, true]);
  });

  it('is found among others, whose figures and tags are right, and keeps its own figures', async () => {
    const [heavy, session] = [randomUUID(), randomUUID()];
    const others = Array.from({ length: 40 }, () => randomUUID());
    await writeHeavy(heavy, { session_id: session });
    await write(others.map((trace_id) => storedSpan({ trace_id, cost: 2, trace_tags: { light: 'yes' } })));

    const light = await traces(opened.store, PROJECT, new URLSearchParams({ light: 'yes' }));
    expect((await rowsOf<TraceRead>(light)).map(({ id }) => id).sort()).to.deep.equal([...others].sort());
    expect(light.notCurrent).to.deep.equal([heavy]);
    const found = (await opened.store.lists.tracesById(PROJECT, [heavy])).get(heavy);
    expect(found).to.deep.include({ span_count: HEAVY_SPANS, cost: HEAVY_SPANS, session_id: session, tags: {} });
    const ofSessions = await sessions(opened.store);
    const [itsSession] = await rowsOf<SessionRead>(ofSessions);
    expect(itsSession).to.deep.include({ id: session, trace_count: 1, cost: HEAVY_SPANS });
    expect(ofSessions.notCurrent).to.deep.equal([session]);
    expect((await spans(opened.store)).notCurrent).to.deep.equal([]);
    expect(await gauges()).to.deep.equal([
      'spanhouse_rollup_set_aside_traces 1',
      'spanhouse_rollup_set_aside_sessions 0',
    ]);

    // Further writes, also those that replace a span, are in its figures at once.
    const id = randomUUID();
    for (const cost of [10, 20]) await write([storedSpan({ id, trace_id: heavy, cost })]);
    const later = (await opened.store.lists.tracesById(PROJECT, [heavy])).get(heavy);
    expect(later).to.deep.include({ span_count: HEAVY_SPANS + 1, cost: HEAVY_SPANS + 20 });
    expect(await rowsOf<SpanRead>(await spans(opened.store))).to.have.length(others.length + HEAVY_SPANS + 1);
    expect((await traces(opened.store, randomUUID())).notCurrent).to.deep.equal([]);
  });

  it('is current again by itself, tags and all, when it has become smaller', async () => {
    const heavy = randomUUID();
    await writeHeavy(heavy);
    expect((await traces(opened.store)).notCurrent).to.deep.equal([heavy]);
    const sent = await rowsOf<SpanRead>(await spans(opened.store));
    await write(sent.map(({ id }) => storedSpan({ id, trace_id: heavy, trace_tags: { light: 'yes' } })));
    // The read records what is replaced.
    await traces(opened.store);
    await opened.store.purge();
    expect(await storedVersions(opened.client), 'versions, without those replaced').to.equal(HEAVY_SPANS);
    // Merges drop what was purged, some time; until then its tags are read.
    await opened.client.command(sql`OPTIMIZE TABLE facts FINAL`);
    await until(async () => (await traces(opened.store)).notCurrent.length === 0);
    const found = (await opened.store.lists.tracesById(PROJECT, [heavy])).get(heavy);
    expect(found).to.deep.include({ span_count: HEAVY_SPANS, tags: { light: 'yes' } });
    expect(await gauges()).to.deep.equal([
      'spanhouse_rollup_set_aside_traces 0',
      'spanhouse_rollup_set_aside_sessions 0',
    ]);
  });

  it('is known to the next start, which does not try it first, and to one with more memory it is no longer too large', async () => {
    const heavy = randomUUID();
    await writeHeavy(heavy);
    expect((await traces(opened.store)).notCurrent).to.deep.equal([heavy]);
    const again = await reopenStore(opened.client, { rollup: { ...rollup, retryMs: 60_000 } });
    expect((await traces(again)).notCurrent).to.deep.equal([heavy]);
    await again.close();
    const larger = await reopenStore(opened.client, { rollup: { maxMemoryBytes: 512 * MEGABYTES, retryMs: 100 } });
    await until(async () => (await traces(larger)).notCurrent.length === 0);
    const found = (await larger.lists.tracesById(PROJECT, [heavy])).get(heavy);
    expect(found).to.deep.include({ span_count: HEAVY_SPANS, tags: { n: String(HEAVY_SPANS - 1) } });
    await larger.close();
    const last = await reopenStore(opened.client, { rollup });
    expect((await traces(last)).notCurrent).to.deep.equal([]);
    await last.close();
  });

  it('is found in the round of a start, which goes on', async () => {
    const [heavy, other] = [randomUUID(), randomUUID()];
    await opened.store.close();
    for (const trace of [heavy, other])
      for (let n = 0; n < HEAVY_SPANS; n += 1)
        await opened.client.command(
          statementOf(`INSERT INTO spans (ver, project_id, trace_id, id, name, started_at, session_tags)
           SELECT ${60_000_000_000_000 + n + (trace === heavy ? 0 : 1000)}, '${PROJECT}', '${trace}', generateUUIDv4(), 'n', now64(6),
             map('t', randomString(${trace === heavy ? 4 * MEGABYTES : 10}))`),
        );
    const again = await reopenStore(opened.client, { rollup });
    const page = await traces(again);
    expect(page.notCurrent).to.deep.equal([heavy]);
    const counts = (await rowsOf<TraceRead>(page)).map(({ span_count }) => span_count);
    expect(counts).to.deep.equal([HEAVY_SPANS, HEAVY_SPANS]);
    expect(await remove(again, PROJECT, 'trace', heavy)).to.equal(true);
    const after = await traces(again);
    expect(after.notCurrent).to.deep.equal([]);
    expect((await rowsOf<TraceRead>(after)).map(({ id }) => id)).to.deep.equal([other]);
    await again.close();
  });

  it('may be a session of traces that are not', async () => {
    const session = randomUUID();
    const count = 16;
    for (let n = 0; n < count; n += 1) {
      await write([storedSpan({ session_id: session, cost: 1, session_tags: { [`tag ${n}`]: heavyTags().heavy } })]);
      // Each in a part of its own, so that a trace is read without the tags of others.
      await opened.store.rollUp();
    }
    const page: Page = await sessions(opened.store);
    expect(page.notCurrent).to.deep.equal([session]);
    expect((await rowsOf<SessionRead>(page))[0]).to.deep.include({
      id: session,
      trace_count: count,
      cost: count,
      tags: {},
    });
    expect((await traces(opened.store)).notCurrent).to.deep.equal([]);
    await remove(opened.store, PROJECT, 'session', session);
    expect((await sessions(opened.store)).notCurrent).to.deep.equal([]);
  });

  it('also without its tags it keeps nobody waiting, and what is not right is said', async () => {
    const [vast, other] = [randomUUID(), randomUUID()];
    await opened.store.close();
    await opened.client.command(
      statementOf(`INSERT INTO spans (ver, project_id, trace_id, id, name, started_at, session_id, session_name)
       SELECT 50000000000000 + number, '${PROJECT}', '${vast}', generateUUIDv4(), 'n', now64(6), generateUUIDv4(), randomString(4000)
       FROM numbers(20000) SETTINGS max_block_size = 1000`),
    );
    const again = await reopenStore(opened.client, { rollup });
    await again.log.append({ projectId: PROJECT, spans: [storedSpan({ trace_id: other, cost: 1 })] });
    const page = await traces(again);
    expect(page.notCurrent).to.deep.equal([vast]);
    expect((await rowsOf<TraceRead>(page)).map(({ id }) => id)).to.deep.equal([other]);
    expect((await spans(again)).notCurrent).to.deep.equal([vast]);

    expect(await remove(again, PROJECT, 'trace', vast)).to.equal(true);
    const left = (await rowsOf<SpanRead>(await spans(again))).length;
    expect(left, 'spans, without those deleted').to.equal(1);
    await again.purge();
    expect(await storedVersions(opened.client), 'versions, without those deleted').to.equal(1);
    await opened.client.command(sql`OPTIMIZE TABLE facts FINAL`);
    await until(async () => (await traces(again)).notCurrent.length === 0);
    await again.close();
  });

  it('is forgotten with its project, and not tried again', async () => {
    const heavy = randomUUID();
    await writeHeavy(heavy);
    expect((await traces(opened.store)).notCurrent).to.deep.equal([heavy]);
    expect(await opened.client.query(sql`SELECT id FROM set_aside`)).to.have.lengthOf(1);
    await opened.store.deletions.removeProject(PROJECT, AbortSignal.timeout(60_000));
    expect((await traces(opened.store)).notCurrent).to.deep.equal([]);
    expect(await gauges()).to.include('spanhouse_rollup_set_aside_traces 0');
    await sleep(4 * rollup.retryMs);
    for (const table of ['set_aside', 'traces', 'facts'])
      expect(await opened.client.query(statementOf(`SELECT 1 FROM ${table}`)), table).to.deep.equal([]);
  });

  it('a failure of ClickHouse as a whole sets nothing aside', async () => {
    const trace = randomUUID();
    await opened.client.command(sql`DETACH TABLE session_traces`);
    await write([storedSpan({ trace_id: trace, cost: 1, session_id: randomUUID() })]);
    for (let attempt = 0; attempt < 4; attempt += 1)
      expect(await opened.store.rollUp().catch((error: unknown) => error)).to.be.instanceOf(Error);
    await opened.client.command(sql`ATTACH TABLE session_traces`);
    // A round may be under way that began when that was impossible.
    await opened.store.rollUp().catch(() => opened.store.rollUp());
    const page = await traces(opened.store);
    expect(page.notCurrent).to.deep.equal([]);
    expect((await rowsOf<TraceRead>(page)).map(({ id }) => id)).to.deep.equal([trace]);
    expect(await opened.client.query(sql`SELECT id FROM set_aside`)).to.deep.equal([]);
  });
});
