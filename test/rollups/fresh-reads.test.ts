import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import type { WriteReceipt } from '../../src/engine/traces/model/write-log.js';
import {
  sessionList,
  spanList,
  traceList,
  type ListDefinition,
} from '../../src/engine/traces/model/list/definitions.js';
import type { Page } from '../../src/engine/traces/model/list/lists.js';
import { parseListQuery } from '../../src/http/list-query.js';
import type { Span } from '../../src/engine/traces/model/span/span.js';
import type { ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import type { CommitLog } from '../../src/engine/traces/write/commit-log.js';
import type { AppendedWrites } from '../../src/engine/traces/write/rows.js';
import { EPOCH_SECONDS } from '../../src/engine/traces/write/version-clock.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, reopenStore, rowsOf } from '../harness/trace-store.js';
import { until } from '../harness/until.js';
import { watched } from '../harness/watched-client.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';

const HISTORIES = 2;

/** Every filter, sort and page of each list, with TRACE, SESSION and SPAN in place of ids. */
const CALLS: Readonly<Record<ListName, readonly string[]>> = {
  spans: [
    ...[
      '',
      'id=SPAN',
      'trace_id=TRACE',
      'session_id=SESSION',
      'parent_span_id=null',
      'span_kind=llm',
      'status=ok',
      'names=b',
    ],
    ...['error_codes=e', 'has_error=true', 'cost_min=2', 'duration_min=5', 'q=text', 'q=text&names=b', 'tags.user=u'],
    ...sorted(spanList),
  ],
  traces: [
    ...[
      '',
      'id=TRACE',
      'session_id=SESSION',
      'status=error',
      'names=b',
      'has_error=true',
      'cost_min=2',
      'duration_max=5',
    ],
    ...[
      'tags.user=u',
      'environment=prod',
      'q=text',
      'q=text of a&sort_by=cost',
      'fields=id,cost',
      'limit=2',
      'limit=1&offset=1',
    ],
    ...sorted(traceList),
  ],
  sessions: [
    ...[
      '',
      'id=SESSION',
      'names=b',
      'has_error=true',
      'cost_min=2',
      'duration_min=5',
      'tags.user=u',
      'environment=prod',
    ],
    ...['limit=1', 'limit=1&offset=1'],
    ...sorted(sessionList),
  ],
};

type ListName = 'spans' | 'traces' | 'sessions';

const lists = { spans: spanList, traces: traceList, sessions: sessionList };

function sorted({ sorts }: ListDefinition): string[] {
  return sorts.flatMap((sort) => ['asc', 'desc'].map((order) => `sort_by=${sort}&sort_order=${order}&limit=4`));
}

/** A fresh read takes some tens of milliseconds: each history is asked for some of them. */
const someCalls = fc.shuffledSubarray(
  (Object.keys(CALLS) as ListName[]).flatMap((name) => CALLS[name].map((call) => ({ name, call }))),
  { minLength: 24, maxLength: 24 },
);

/** Written again and again, over few ids, so that writes meet. */
const step = fc.record({
  do: fc.constantFrom(
    'span',
    'span',
    'span',
    'span',
    'trace',
    'session',
    'reprice',
    'delete span',
    'delete trace',
    'delete session',
  ),
  span: fc.nat(5),
  trace: fc.nat(2),
  session: fc.nat(2),
  change: fc.record({
    name: fc.constantFrom('a', 'b'),
    status: fc.constantFrom(null, 'ok', 'error', 'unset'),
    started_at: fc.constantFrom(1e15, 1e15 + 1, 1.7e15),
    cost: fc.constantFrom(null, 1, 3),
    duration_ms: fc.constantFrom(null, 7.5),
    tags: fc.constantFrom({}, { user: 'u' }, { user: 'v', environment: 'prod' }),
  }),
  parented: fc.boolean(),
  error: fc.boolean(),
  rollUpHere: fc.integer({ min: 0, max: 5 }).map((sixth) => sixth === 0),
});
describe('fresh reads', function () {
  this.timeout(120_000);
  let opened: OpenedStore;
  beforeEach(async () => {
    opened = await openStore();
  });
  afterEach(() => opened.dispose());

  const list = async (projectId: string, name: ListName, search: string) => {
    const query = parseListQuery(lists[name], new URLSearchParams(search));
    const page = await opened.store.lists[name](projectId, query);
    return { rows: await rowsOf<Record<string, unknown>>(page), total: page.total };
  };

  const listTraces = (projectId: string, text = '') =>
    opened.store.lists.traces(projectId, parseListQuery(traceList, new URLSearchParams(text)));

  /** Not in a round that began when that was impossible. */
  async function rollUp(): Promise<void> {
    await opened.store.rollUp().catch(() => opened.store.rollUp());
  }

  it('wait for no rollup: every list, filter, sort and page is the same before it and after it', async () => {
    const { client } = opened;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), someCalls, async (steps, chosen) => {
        const projectId = randomUUID();
        const writer = new Writer(opened.store, projectId);
        const calls = chosen.map(({ name, call }) => ({ name, search: writer.naming(`count=true&${call}`) }));
        const all = () => Promise.all(calls.map(({ name, search }) => list(projectId, name, search)));
        // Nothing can be rolled up without this table, and nothing is read from it.
        await client.command(sql`DETACH TABLE touch_traces`);
        try {
          for (const { rollUpHere, ...change } of steps) {
            await writer.write(change);
            if (!rollUpHere) continue;
            await client.command(sql`ATTACH TABLE touch_traces`);
            await rollUp();
            await client.command(sql`DETACH TABLE touch_traces`);
          }
          const before = await all();
          await client.command(sql`ATTACH TABLE touch_traces`);
          await rollUp();
          const after = await all();
          calls.forEach((call, at) => {
            expect(before[at], `${call.name}?${call.search}`).to.deep.equal(after[at]);
          });
        } finally {
          await client.command(sql`ATTACH TABLE IF NOT EXISTS touch_traces`).catch(() => undefined);
        }
      }),
      { numRuns: HISTORIES },
    );
  });

  describe('while rollups of a project are slow', () => {
    const [slow, other] = [randomUUID(), randomUUID()];
    const write = (projectId: string, name: string, count = 1) => {
      const spans = Array.from({ length: count }, () => storedSpan({ name }));
      return opened.store.log.append({ projectId, spans }).then(() => spans.map(({ trace_id }) => trace_id));
    };

    /** Rounds with traces of the slow project end no sooner than this. */
    let held: Promise<void> | null = null;
    let release = (): void => undefined;
    let isReached = false;
    const hold = () => {
      held = new Promise((resolve) => (release = resolve));
    };
    let folder: string;

    beforeEach(async () => {
      await opened.store.close();
      folder = await mkdtemp(join(tmpdir(), 'spanhouse-slow-'));
      const insert: ClickHouseClient['insert'] = async (table, columns, format, given, options) => {
        const rows = Buffer.isBuffer(given) ? given : Buffer.concat(given);
        if (held !== null && table === 'touch_traces' && rows.includes(slow)) {
          isReached = true;
          await held;
        }
        await opened.client.insert(table, columns, format, rows, options);
      };
      const client = { ...watched(opened.client, () => undefined), insert };
      opened = { ...opened, store: await reopenStore(client, { log: { directory: folder, store: 'test' } }) };
    });

    afterEach(async () => {
      release();
      await opened.store.close();
      await rm(folder, { recursive: true, force: true });
      [held, isReached] = [null, false];
    });

    it('nothing that is listed waits for them', async () => {
      const [settled] = await write(slow, 'settled');
      await write(other, 'quick');
      await rollUp();
      hold();
      const [unsettled] = await write(slow, 'slow');
      const ended: string[] = [];
      const told = (name: string, page: Promise<Page>) =>
        page.then(rowsOf).then((rows) => ended.push(`${name}: ${rows.length}`));
      const rolledUp = rollUp().then(() => ended.push('rolled up'));
      await until('a round is under way', () => isReached);
      await Promise.all([
        told('all', listTraces(slow)),
        told('unsettled', listTraces(slow, `id=${unsettled}`)),
        told('settled', listTraces(slow, `id=${settled}`)),
        told('other', listTraces(other)),
      ]);
      expect(ended).to.have.members(['all: 2', 'unsettled: 1', 'settled: 1', 'other: 1']);
      release();
      await rolledUp;
    });

    it('another writes meanwhile, also when more of the slow one waits than may', async () => {
      hold();
      await write(slow, 'slow', 6_000);
      const ended: string[] = [];
      const waiting = write(slow, 'slow').then(() => ended.push('slow'));
      for (let nth = 0; nth < 2; nth += 1) await write(other, 'quick').then(() => ended.push('other'));
      release();
      await waiting;
      expect(ended).to.deep.equal(['other', 'other', 'slow']);
    });
  });
});

type Step = Omit<typeof step extends fc.Arbitrary<infer T> ? T : never, 'rollUpHere'>;

/** Writes steps of a history to a project, over ids of its own. */
class Writer {
  readonly #store: OpenedStore['store'];
  readonly #projectId: string;
  readonly #ids = { traces: ids(3), sessions: ids(3), spans: ids(6) };
  #latest: { readonly span: Span; readonly version: number } | null = null;

  constructor(store: OpenedStore['store'], projectId: string) {
    this.#store = store;
    this.#projectId = projectId;
  }

  naming(search: string): string {
    const { traces, sessions, spans } = this.#ids;
    return search.replace('TRACE', traces[0]!).replace('SESSION', sessions[0]!).replace('SPAN', spans[0]!);
  }

  async write(step: Step): Promise<void> {
    const { createdAt } = await this.#append(this.#writes(step));
    const [taken] = createdAt;
    if (step.do === 'span' && taken !== undefined)
      this.#latest = { span: this.#span(step), version: taken - EPOCH_SECONDS * 1_000_000 };
  }

  #append(writes: Omit<AppendedWrites, 'projectId'>): Promise<WriteReceipt> {
    return (this.#store.log as CommitLog).append({ projectId: this.#projectId, ...writes });
  }

  #writes(step: Step): Omit<AppendedWrites, 'projectId'> {
    const { name, status, started_at, cost, duration_ms, tags } = step.change;
    const posted = { name, tags, attributes: { posted: name } };
    const ids = { trace: this.#ids.traces[step.trace]!, session: this.#ids.sessions[step.session]! };
    const timed = { status, started_at, ended_at: null, duration_ms, cost };
    switch (step.do) {
      case 'span':
        return { spans: [this.#span(step)] };
      case 'reprice':
        return this.#latest === null
          ? {}
          : { spans: [{ ...this.#latest.span, cost: 0.5, originVersion: this.#latest.version }] };
      case 'trace':
        return { traces: [{ id: ids.trace, session_id: ids.session, ...posted, ...timed }] };
      case 'session':
        return { sessions: [{ id: ids.session, ...posted }] };
      case 'delete span':
        return { tombstones: [{ trace_id: ids.trace, id: this.#ids.spans[step.span]!, rowType: 0 }] };
      case 'delete trace':
        return { tombstones: [{ trace_id: ids.trace, id: ids.trace, rowType: 1 }] };
      default:
        return { deletedSessions: [ids.session] };
    }
  }

  #span({ span, trace, session, change, parented, error }: Step): Span {
    const { tags, ...rest } = change;
    return storedSpan({
      ...rest,
      id: this.#ids.spans[span]!,
      trace_id: this.#ids.traces[trace]!,
      parent_span_id: parented ? this.#ids.spans[(span + 1) % 6]! : null,
      session_id: session === 2 ? null : this.#ids.sessions[session]!,
      session_name: error ? rest.name : null,
      kind: parented ? 'llm' : 'generic',
      ended_at: parented ? rest.started_at + 8_000 : null,
      input_data: `some text of ${rest.name}`,
      error_code: error ? 'e' : null,
      ...{ tags, trace_tags: tags, session_tags: parented ? tags : {} },
    });
  }
}

function ids(count: number): string[] {
  return Array.from({ length: count }, () => randomUUID());
}
