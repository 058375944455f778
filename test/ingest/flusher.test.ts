import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { DomainError } from '../../src/engine/errors.js';
import { InsertError, type ClickHouseClient } from '../../src/engine/traces/clickhouse/client/client.js';
import { Flusher } from '../../src/engine/traces/write/flusher.js';
import type { SegmentLog } from '../../src/engine/traces/write/log/segment-log.js';
import { UnflushedWrites, type StampedWrite } from '../../src/engine/traces/write/unflushed-writes.js';

const LIMITS = { maxRows: 10_000, maxBytes: 32e6 };
const ignored = { spansFlushed: () => undefined, flushFailed: () => undefined, writeQuarantined: () => undefined };

/** Inserts that end when the test says so. */
function heldInserts() {
  const held: { readonly rows: number; end: (error?: Error) => void }[] = [];
  const insert: ClickHouseClient['insert'] = (_table, _columns, _format, rows) =>
    new Promise<void>((resolve, reject) => {
      const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
      held.push({ rows: Array.isArray(rows) ? rows.length : 1, end });
    });
  return { held, client: { insert } as ClickHouseClient };
}

describe('flushes', () => {
  let version = 1;
  const write = (projectId: string, rows = 1): StampedWrite => {
    const first = version;
    version += rows;
    const bytes = Buffer.alloc(10);
    return {
      ...{ projectId, first, last: version - 1, rows, bytes: bytes.length, deletes: false, place: null },
      touched: { projectId, traces: new Set([randomUUID()]), removed: new Set(), sessions: new Set() },
      tables: [{ table: 'spans', bytes }],
    };
  };
  const open = () => {
    const { held, client } = heldInserts();
    const writes = new UnflushedWrites(0, 1e9);
    const stored: number[] = [];
    const onStored = (given: readonly StampedWrite[]) => void stored.push(...given.map(({ first }) => first));
    const log = { stored: () => undefined } as unknown as SegmentLog;
    const onMarked = () => undefined;
    const flusher = new Flusher({ client, writes, log, limits: LIMITS, observer: ignored, onStored, onMarked });
    const add = (...given: StampedWrite[]) => {
      writes.add(given);
      writes.acknowledge(given.at(-1)?.last ?? 0);
      flusher.added();
    };
    return { held, writes, flusher, stored, add };
  };
  const pending = async (promise: Promise<unknown>) =>
    (await Promise.race([promise.then(() => 'ended'), sleep(20).then(() => 'pending')])) === 'pending';

  it('of one project are waited for by its readers alone', async () => {
    const { held, writes, flusher, add } = open();
    const [busy, quiet] = [randomUUID(), randomUUID()];
    add(write(busy, 9_000));
    await sleep(5);
    expect(held).to.have.length(1);
    // Nothing of it waits: it is read at once.
    await flusher.flush(quiet);
    add(write(quiet));
    const read = flusher.flush(quiet);
    await sleep(5);
    expect(held, 'an insert of its own').to.have.length(2);
    held[1]?.end();
    await read;
    expect(writes.storedUpTo(quiet)).to.equal(writes.acknowledged);
    expect(writes.storedUpTo(busy)).to.be.below(writes.acknowledged);
    held[0]?.end();
  });

  it('are shared by all who read in the same turn', async () => {
    const { held, flusher, add } = open();
    const projects = Array.from({ length: 5 }, () => randomUUID());
    for (const projectId of projects) add(write(projectId));
    const reads = projects.flatMap((projectId) => [flusher.flush(projectId), flusher.flush(projectId)]);
    await sleep(5);
    expect(held.map(({ rows }) => rows)).to.deep.equal([5]);
    held[0]?.end();
    await Promise.all(reads);
    expect(held).to.have.length(1);
  });

  it('that are under way keep those who wait for the next waiting', async () => {
    const { held, flusher, add } = open();
    const projectId = randomUUID();
    add(write(projectId, 9_000));
    await sleep(5);
    const next = flusher.next();
    expect(await pending(next)).to.equal(true);
    held[0]?.end();
    await next;
    await flusher.next();
  });

  it('that fail tell their readers, and are repeated in the order of versions', async () => {
    const { held, writes, flusher, stored, add } = open();
    const projectId = randomUUID();
    const none = { outcome: 'none', unreadable: false } as const;
    add(write(projectId));
    const [first] = [version - 1];
    const read = flusher.flush(projectId).catch((error: unknown) => error);
    await sleep(5);
    held[0]?.end(new InsertError('unavailable', 'away', none, {}));
    expect(await read).to.be.instanceOf(DomainError);
    expect([flusher.failing, flusher.away, writes.storedUpTo(projectId) < first]).to.deep.equal([true, true, true]);
    add(write(projectId));
    while (held.length < 2) await sleep(10);
    held[1]?.end();
    await flusher.flush(projectId);
    expect(stored).to.deep.equal([first, first + 1]);
    expect(flusher.failing).to.equal(false);
  });
});
