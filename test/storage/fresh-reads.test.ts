import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import fc from 'fast-check';
import { spanList, traceList } from '../../src/domain/list/definitions.js';
import type { SpanRead } from '../../src/domain/list/fields.js';
import type { Page } from '../../src/domain/list/lists.js';
import { parseListQuery } from '../../src/domain/list/query.js';
import type { CommitLog } from '../../src/storage/clickhouse/commit/commit-log.js';
import { storedSpan } from '../fixtures/span.js';
import { type OpenedStore, openStore, rowsOf } from './trace-store-harness.js';

const HISTORIES = 6;
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

  const listTraces = (projectId: string, text = '') =>
    opened.store.lists.traces(projectId, parseListQuery(traceList, new URLSearchParams(text)));

  /** Not in a round that began when that was impossible. */
  async function rollUp(projectId: string): Promise<void> {
    await listTraces(projectId).catch(() => listTraces(projectId));
  }

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
            await rollUp(projectId);
            await client.command('DETACH TABLE session_traces');
            rolledUp = true;
          }
          const before = await Promise.all(calls.map((call) => list(projectId, call)));
          await client.command('ATTACH TABLE session_traces');
          await rollUp(projectId);
          const after = await Promise.all(calls.map((call) => list(projectId, call)));
          expect(before).to.deep.equal(after);
        } finally {
          await client.command('ATTACH TABLE IF NOT EXISTS session_traces').catch(() => undefined);
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

    beforeEach(() =>
      opened.client.command(
        `CREATE MATERIALIZED VIEW slow_to_recompute TO set_aside AS SELECT project_id, 'trace' AS kind, id, 0 AS ver, 0 AS aside,
         toUInt8(sleep(1)) AS stale FROM traces_recomputed WHERE name = 'slow'`,
      ),
    );

    afterEach(() => opened.client.command('DROP VIEW slow_to_recompute'));

    it('traces of another are read meanwhile, and those that it has not written to', async () => {
      const [settled] = await write(slow, 'settled');
      await write(other, 'quick');
      await Promise.all([listTraces(slow), listTraces(other)]);
      const [unsettled] = await write(slow, 'slow');
      const ended: string[] = [];
      const read = (name: string, page: Promise<Page>) =>
        page.then(rowsOf).then((rows) => ended.push(`${name}: ${rows.length}`));
      await Promise.all([
        read('all', listTraces(slow)),
        read('unsettled', listTraces(slow, `id=${unsettled}`)),
        read('settled', listTraces(slow, `id=${settled}`)),
        read('other', listTraces(other)),
      ]);
      expect(ended.slice(0, 2)).to.have.members(['other: 1', 'settled: 1']);
      expect(ended.slice(2)).to.have.members(['unsettled: 1', 'all: 2']);
    });

    it('another writes meanwhile, also when more of the slow one waits than may', async () => {
      await write(slow, 'slow', 30_000);
      const ended: string[] = [];
      const held = write(slow, 'slow').then(() => ended.push('slow'));
      for (let nth = 0; nth < 2; nth += 1) await write(other, 'quick').then(() => ended.push('other'));
      await held;
      expect(ended).to.deep.equal(['other', 'other', 'slow']);
    });
  });
});
