import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { spanList, traceList } from '../../src/engine/traces/model/list/definitions.js';
import { InsertError, type ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { sql } from '../../src/engine/traces/clickhouse/client/sql.js';
import type { TraceStore } from '../../src/engine/traces/trace-store.js';
import { parseListQuery } from '../../src/http/list-query.js';
import { storedSpan } from '../harness/span.js';
import { openStore, reopenStore, rowsOf, withInsert, type OpenedStore } from '../harness/trace-store.js';

const ROUNDS = 15;
const READERS = 2;

/** The client, whose inserts of a span called `lost` are stored while their answer is lost, the first time. */
function losing(client: ClickHouseClient): ClickHouseClient {
  const lost = new Set<string>();
  const lose = (rows: Buffer): boolean => {
    const name = /lost-[0-9a-f-]{36}/.exec(rows.toString('latin1'))?.[0];
    if (name === undefined || lost.has(name)) return false;
    lost.add(name);
    return true;
  };
  return withInsert(client, async (table, columns, format, given, options) => {
    const rows = Buffer.isBuffer(given) ? given : Buffer.concat(given);
    await client.insert(table, columns, format, rows, options);
    if (table === 'spans' && lose(rows))
      throw new InsertError('unavailable', 'lost', { outcome: 'unknown', unreadable: false }, {});
  });
}

for (const kept of ['a write-ahead log', 'ClickHouse alone'])
  describe(`reads while an insert of unknown outcome is sent again, with ${kept}`, () => {
    let opened: OpenedStore;
    let store: TraceStore;
    let folder: string;

    before(async () => {
      opened = await openStore();
      folder = await mkdtemp(join(tmpdir(), 'spanhouse-again-'));
      const log = kept === 'ClickHouse alone' ? null : { directory: folder, store: 'test' };
      store = await reopenStore(losing(opened.client), { log });
    });
    after(async () => {
      await store.close();
      await opened.dispose();
      await rm(folder, { recursive: true, force: true });
    });

    const unavailable = (error: unknown) => {
      if (!(error instanceof DomainError)) throw error;
      return null;
    };

    if (kept === 'ClickHouse alone')
      it('goes on for all projects whose rows were in it', async () => {
        const projects = [randomUUID(), randomUUID(), randomUUID()];
        const write = (projectId: string, name: string) =>
          store.log.append({ projectId, spans: [storedSpan({ name })] }).catch(unavailable);
        const refused = await Promise.all(projects.map((projectId) => write(projectId, `lost-${randomUUID()}`)));
        expect(refused).to.include(null);
        for (const projectId of projects) while ((await write(projectId, 'again')) === null) await sleep(20);
      }).timeout(20_000);

    it('see every acknowledged span once, or are refused', async () => {
      const { log, lists } = store;
      const projectId = randomUUID();
      let acknowledged = 0;
      let reading = true;
      const query = parseListQuery(spanList, new URLSearchParams('limit=10000'));
      const readers = Array.from({ length: READERS }, async () => {
        let reads = 0;
        for (; reading; reads += 1) {
          const least = acknowledged;
          const page = await lists.spans(projectId, query).catch(unavailable);
          if (page === null) await sleep(5);
          else expect((await rowsOf<{ name: string }>(page)).length, 'spans read').to.be.at.least(least);
        }
        return reads;
      });
      const write = async (name: string) => {
        while ((await log.append({ projectId, spans: [storedSpan({ name })] }).catch(unavailable)) === null)
          await sleep(5);
        acknowledged += 1;
      };
      try {
        for (let round = 0; round < ROUNDS; round += 1) {
          await write('kept');
          await sleep(round % 7);
          // Without a log it is refused, though it is stored, and then sent again as another span.
          if (kept === 'ClickHouse alone')
            expect(
              await log.append({ projectId, spans: [storedSpan({ name: `lost-${randomUUID()}` })] }).catch(unavailable),
            ).to.equal(null);
          else await write(`lost-${randomUUID()}`);
        }
      } finally {
        reading = false;
      }
      for (const reads of await Promise.all(readers)) expect(reads).to.be.greaterThan(0);
      while ((await store.rollUp().catch(unavailable)) === null) await sleep(5);
      const spans = await rowsOf<{ id: string }>(await lists.spans(projectId, query));
      expect(new Set(spans.map(({ id }) => id)).size, 'different spans')
        .to.equal(spans.length)
        .and.equal(2 * ROUNDS);
      const traces = await lists.traces(projectId, parseListQuery(traceList, new URLSearchParams('limit=500')));
      const counts = (await rowsOf<{ span_count: number }>(traces)).map(({ span_count }) => span_count);
      expect(counts).to.deep.equal(Array.from({ length: 2 * ROUNDS }, () => 1));
      const [twice] = await opened.client.query<{ rows: number }>(
        sql`SELECT toUInt32(count() - uniqExact(ver)) AS rows FROM spans`,
      );
      expect(twice?.rows, 'rows stored twice').to.equal(0);
    }).timeout(60_000);
  });
