import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { spanList, traceList } from '../../src/domain/list/definitions.js';
import type { SpanRead } from '../../src/domain/list/fields.js';
import { parseListQuery } from '../../src/domain/list/query.js';
import type { CommitLog } from '../../src/storage/clickhouse/commit/commit-log.js';
import { storedSpan } from '../fixtures/span.js';
import { type OpenedStore, openStore, rowsOf } from './trace-store-harness.js';

const HISTORIES = 12;
const CALLS = [
  'limit=1000',
  'limit=1000&trace_id=TRACE',
  'limit=3&offset=1&sort_by=name',
  'q=text&names=b',
  'cost_min=2',
];

/** Of a handful of spans in two traces, written again and again. */
const writes = fc.array(
  fc.record({
    span: fc.nat(5),
    name: fc.constantFrom('a', 'b'),
    cost: fc.constantFrom(null, 1, 3),
    deleted: fc.boolean(),
    readHere: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

describe('fresh reads', function () {
  this.timeout(60_000);
  let opened: OpenedStore;
  beforeEach(async () => {
    opened = await openStore();
  });
  afterEach(() => opened.dispose());

  const list = async (projectId: string, text: string) => {
    const page = await opened.store.lists.spans(projectId, parseListQuery(spanList, new URLSearchParams(text)));
    return { rows: await rowsOf<SpanRead>(page), total: page.total };
  };

  it('of spans wait for no rollup: lists are the same before it and after it', async () => {
    const { store, client } = opened;
    const log = store.log as CommitLog;
    await fc.assert(
      fc.asyncProperty(writes, async (steps) => {
        const projectId = randomUUID();
        const traces = [randomUUID(), randomUUID()] as const;
        const spans = Array.from({ length: 6 }, () => randomUUID());
        const calls = CALLS.map((call) => `count=true&${call.replace('TRACE', traces[0])}`);
        const live = new Map<number, string>();
        // No trace can be rolled up without this table.
        await client.command('DETACH TABLE session_traces');
        let rolledUp: boolean = false;
        try {
          for (const { span, name, cost, deleted, readHere } of steps) {
            const [trace_id, id] = [traces[span % 2] ?? '', spans[span] ?? ''];
            if (deleted) await log.append({ projectId, tombstones: [{ trace_id, id, rowType: 0 }] });
            else {
              const session_id = traces[0];
              const span = storedSpan({ id, trace_id, name, cost, session_id, input_data: `some text of ${name}` });
              await log.append({ projectId, spans: [span] });
            }
            if (deleted) live.delete(span);
            else live.set(span, name);
            const { rows } = await list(projectId, 'limit=1000');
            expect(rows.map((row) => `${row.id} ${row.name}`).sort()).to.deep.equal(
              [...live].map(([index, last]) => `${spans[index]} ${last}`).sort(),
            );
            if (!readHere || rolledUp) continue;
            // Some of it is rolled up, so that what is replaced is known in two ways.
            await client.command('ATTACH TABLE session_traces');
            await store.lists.traces(projectId, parseListQuery(traceList, new URLSearchParams()));
            await client.command('DETACH TABLE session_traces');
            rolledUp = true;
          }
          const before = await Promise.all(calls.map((call) => list(projectId, call)));
          await client.command('ATTACH TABLE session_traces');
          await store.lists.traces(projectId, parseListQuery(traceList, new URLSearchParams()));
          const after = await Promise.all(calls.map((call) => list(projectId, call)));
          expect(before).to.deep.equal(after);
        } finally {
          await client.command('ATTACH TABLE IF NOT EXISTS session_traces').catch(() => undefined);
        }
      }),
      { numRuns: HISTORIES },
    );
  });

  it('of traces wait for no rollup of another project', async () => {
    const { store, client } = opened;
    const [slow, other] = [randomUUID(), randomUUID()];
    await client.command(
      `CREATE MATERIALIZED VIEW slow_to_recompute TO set_aside AS SELECT project_id, 'trace' AS kind, id, 0 AS ver, 0 AS aside,
       toUInt8(sleepEachRow(2)) AS stale FROM traces_recomputed WHERE name = 'slow'`,
    );
    const traces = (projectId: string) =>
      store.lists.traces(projectId, parseListQuery(traceList, new URLSearchParams()));
    await store.log.append({ projectId: other, spans: [storedSpan({ name: 'quick' })] });
    await traces(other);
    await store.log.append({ projectId: slow, spans: [storedSpan({ name: 'slow' })] });
    const ended: string[] = [];
    const ofSlow = traces(slow).then(() => ended.push('slow'));
    await traces(other).then(() => ended.push('other'));
    await ofSlow;
    expect(ended).to.deep.equal(['other', 'slow']);
  });
});
