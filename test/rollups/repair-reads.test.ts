import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DomainError } from '../../src/domain/errors.js';
import { spanList } from '../../src/domain/list/definitions.js';
import { parseListQuery } from '../../src/transport/http/list-query.js';
import { storedSpan } from '../harness/span.js';
import { type OpenedStore, openStore, rowsOf } from '../harness/trace-store.js';
import { sql } from '../../src/storage/clickhouse/client/sql.js';

const ROUNDS = 30;
const READERS = 4;

describe('reads while a failed insert is repaired', () => {
  let opened: OpenedStore;
  before(async () => {
    opened = await openStore();
    // Fails when the spans are stored already, so that nobody knows what is.
    await opened.client.command(sql`CREATE MATERIALIZED VIEW fails_on_demand TO set_aside AS
      SELECT project_id, 'trace' AS kind, id, ver, 0 AS aside, 0 AS stale FROM spans WHERE throwIf(name = 'fail', 'as the test wants') = 1`);
  });
  after(() => opened.dispose());

  const unavailable = (error: unknown) => {
    if (!(error instanceof DomainError)) throw error;
    return null;
  };

  it('see every acknowledged span, or are refused', async () => {
    const { log, lists } = opened.store;
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
    try {
      for (let round = 0; round < ROUNDS; round += 1) {
        // Until the repair of the round before is over.
        while ((await log.append({ projectId, spans: [storedSpan()] }).catch(unavailable)) === null) await sleep(5);
        acknowledged += 1;
        await sleep(round % 7);
        const failing = log.append({ projectId, spans: [storedSpan({ name: 'fail' })] });
        expect(await failing.catch((error: unknown) => error)).to.be.instanceOf(DomainError);
      }
    } finally {
      reading = false;
    }
    for (const reads of await Promise.all(readers)) expect(reads).to.be.greaterThan(0);
  }).timeout(60_000);
});
