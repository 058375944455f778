import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { refusalCode } from '../../src/engine/traces/clickhouse/client/client-errors.js';
import { InsertError } from '../../src/engine/traces/clickhouse/client/client.js';
import { THROWN_BY_VIEW } from '../../src/engine/traces/clickhouse/client/error-codes.js';
import { number, sql, value } from '../../src/engine/traces/clickhouse/client/sql.js';
import type { AppendedWrites } from '../../src/engine/traces/write/rows.js';
import { storedSpan } from '../harness/span.js';
import { statementOf } from '../harness/statement.js';
import { openStore, reopenStore, withInsert, type OpenedStore } from '../harness/trace-store.js';

const PROJECT = randomUUID();
const TABLES = ['traces', 'session_traces', 'superseded'] as const;

describe('traces that were removed whole', () => {
  let opened: OpenedStore;
  beforeEach(async () => {
    opened = await openStore();
  });
  afterEach(() => opened.dispose());

  const append = (writes: Omit<AppendedWrites, 'projectId'>) =>
    opened.store.log.append({ projectId: PROJECT, ...writes });
  const remove = (...traces: string[]) =>
    append({ removedTraces: traces.map((trace_id) => ({ trace_id, firstVersion: 1 })) });

  /** Traces of every kind of history: replaced and deleted spans, several sessions, posted, stored twice, removed before. */
  async function write(): Promise<string[]> {
    const traces = Array.from({ length: 6 }, () => randomUUID());
    const [plain = '', , posted = '', again = '', , last = ''] = traces;
    const spans = traces.flatMap((trace_id) =>
      [randomUUID(), randomUUID(), null].map((session_id) =>
        storedSpan({ trace_id, session_id, cost: 1, trace_tags: { a: 'b' }, session_tags: { c: 'd' } }),
      ),
    );
    await append({ spans });
    await opened.store.rollUp();
    await append({ spans: spans.slice(0, 6).map((span) => ({ ...span, cost: 2, session_id: randomUUID() })) });
    const { id = '' } = spans.find(({ trace_id }) => trace_id === last) ?? {};
    await append({ tombstones: [{ trace_id: last, id, rowType: 0 }] });
    const unsaid = { status: null, ended_at: null, duration_ms: null, cost: 5, attributes: {}, tags: { e: 'f' } };
    await append({ traces: [{ id: posted, session_id: randomUUID(), name: 'posted', started_at: 1, ...unsaid }] });
    await remove(again);
    await append({ spans: [storedSpan({ trace_id: again, session_id: randomUUID() })] });
    await opened.store.rollUp();
    await opened.client.command(sql`INSERT INTO facts SELECT * FROM facts WHERE trace_id = ${value(plain, 'UUID')}`);
    return traces;
  }

  async function rows(): Promise<Record<(typeof TABLES)[number], object[]>> {
    const state = 'bitShiftRight(ver, 65) AS state, * EXCEPT (ver, round)';
    const of = (table: string, columns: string) =>
      opened.client.query<object>(statementOf(`SELECT ${columns} FROM ${table} FINAL ORDER BY ALL`));
    return {
      traces: await of('traces', state.replace(', round', '')),
      session_traces: await of('session_traces', state),
      superseded: await of('superseded', '*'),
    };
  }

  it('are stored as recomputing them from all that was written would store them', async () => {
    const traces = await write();
    await remove(...traces);
    await opened.client.command(sql`DETACH TABLE touch_traces`);
    await opened.store.rollUp();
    await opened.client.command(sql`ATTACH TABLE touch_traces`);
    const light = await rows();
    expect(light.traces).to.have.length(traces.length);
    for (const table of TABLES) await opened.client.command(statementOf(`TRUNCATE TABLE ${table}`));
    await opened.client.command(
      sql`INSERT INTO touch_traces SELECT DISTINCT project_id, trace_id, ${number(2 ** 50)}, 1 FROM facts`,
    );
    expect(await rows()).to.deep.equal(light);
  });

  it('count again as soon as something is written to them, whichever round sees it', async () => {
    const traces = await write();
    const [early = '', late = ''] = traces;
    await remove(...traces);
    await append({ spans: [storedSpan({ trace_id: early, cost: 7 })] });
    await opened.store.rollUp();
    await append({ spans: [storedSpan({ trace_id: late, cost: 8 })] });
    await remove(early);
    await append({ spans: [storedSpan({ trace_id: early, cost: 9 })] });
    await opened.store.rollUp();
    const left = await opened.store.lists.tracesById(PROJECT, traces);
    expect([...left].map(([id, { span_count, cost }]) => [id, span_count, cost]).sort()).to.deep.equal(
      [
        [early, 1, 9],
        [late, 1, 8],
      ].sort(),
    );
  });

  it('are not taken for removed where their latest fact is another', async () => {
    const traces = await write();
    const before = await rows();
    const touch = sql`INSERT INTO touch_removed_traces SELECT DISTINCT project_id, trace_id, ${number(2 ** 50)}, 1 FROM facts`;
    const refused = await opened.client.command(touch).catch((error: unknown) => refusalCode(error));
    expect(refused).to.equal(THROWN_BY_VIEW);
    expect(await rows()).to.deep.equal(before);
    expect(traces).to.have.length(before.traces.length);
  });

  it('stay where ClickHouse did not take their tombstones, and no log has them', async () => {
    const traces = await write();
    const before = await rows();
    let isLost = false;
    // The first tombstones are lost on the way, and nobody knows.
    const losing = withInsert(opened.client, async (table, ...rest) => {
      if (table !== 'facts' || isLost) return opened.client.insert(table, ...rest);
      isLost = true;
      throw new InsertError('unavailable', 'lost', { outcome: 'unknown', unreadable: false }, {});
    });
    await opened.store.close();
    const store = await reopenStore(losing, { log: null });
    const removedTraces = traces.map((trace_id) => ({ trace_id, firstVersion: 1 }));
    const writes: AppendedWrites = { projectId: PROJECT, removedTraces };
    const failure = await store.log.append(writes).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DomainError);
    expect(isLost).to.equal(true);
    // It takes writes again once what it may have stored is whole.
    const other = { projectId: randomUUID(), spans: [storedSpan()] };
    const takes = () =>
      store.log.append(other).then(
        () => true,
        () => false,
      );
    while (!(await takes())) await sleep(20);
    await store.rollUp();
    const now = await rows();
    expect(
      now.traces.filter((row) => (row as { project_id: string }).project_id === PROJECT).map(figuresOf),
    ).to.deep.equal(before.traces.map(figuresOf));
    expect(now.superseded).to.deep.equal(before.superseded);
    await store.close();
  });
});

/** A row but for the state that it was computed in. */
function figuresOf(row: object): object {
  const { state: _state, ...figures } = row as { readonly state: unknown };
  return figures;
}
