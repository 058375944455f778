import { expect } from 'chai';
import type { DiskRoom } from '../../src/engine/disk/disk.js';
import { growingDisks } from '../../src/engine/disk/growth.js';
import { DomainError } from '../../src/engine/errors.js';
import { serverRoomReader } from '../../src/engine/traces/span-bytes.js';
import { DiskWatermark, IN_CLICKHOUSE } from '../../src/engine/disk/disk-watermark.js';
import { quietSignals } from '../harness/signals.js';
import { openStore } from '../harness/trace-store.js';

const GIGABYTE = 2 ** 30;
const observer = quietSignals();

describe('room on disks', () => {
  let room: DiskRoom | null = null;
  let opened: DiskWatermark | undefined;
  afterEach(() => opened?.close());

  async function watermark(minFreeBytes: number | null): Promise<DiskWatermark> {
    const disk = { name: 'data', holds: IN_CLICKHOUSE, room: () => Promise.resolve(room) };
    opened = await DiskWatermark.open({ disks: [disk], minFreeBytes, observer, lookEveryMs: 1 });
    return opened;
  }
  /** Whether spans are refused while some bytes of them wait, and readiness says the same. */
  const refused = (watched: DiskWatermark, bytes = 0) => {
    watched.queued(bytes);
    try {
      watched.requireSpace();
      watched.check();
      return false;
    } catch (error) {
      expect(error).to.be.instanceOf(DomainError).and.to.include({ kind: 'unavailable', reason: 'disk_low' });
      const { message } = error as DomainError;
      expect(() => watched.check()).to.throw(message.split('. Free some space')[0] ?? '');
      return true;
    }
  };
  const seen = async (watched: DiskWatermark, free: number, total: number) => {
    room = { free, total };
    while (watched.disks[0]?.free !== free) await new Promise((resolve) => setTimeout(resolve, 1));
  };

  it('stays free as suits the size of a disk', async () => {
    for (const [total, kept] of [
      [100, 5],
      [20, 1],
      [8, 1],
      [2, 0.5],
    ] as const) {
      room = { free: total * GIGABYTE, total: total * GIGABYTE };
      const watched = await watermark(null);
      expect(watched.disks[0]?.minFree, `${total} GB`).to.equal(kept * GIGABYTE);
      await watched.close();
    }
  });

  it('counts what is on its way, and what was written since the last look', async () => {
    room = { free: 1_000, total: 10_000 };
    const disk = { name: 'data', holds: IN_CLICKHOUSE, room: () => Promise.resolve(room) };
    opened = await DiskWatermark.open({ disks: [disk], minFreeBytes: 500, observer, lookEveryMs: 60_000 });
    expect([refused(opened, 500), refused(opened, 501)]).to.deep.equal([false, true]);
    opened.written(400);
    expect([refused(opened, 100), refused(opened, 101)]).to.deep.equal([false, true]);
  });

  it('is said to be what is free but for what is on its way, everywhere', async () => {
    const MB = 2 ** 20;
    room = { free: 78 * MB, total: 1_000 * MB };
    const disk = { name: 'data', holds: IN_CLICKHOUSE, room: () => Promise.resolve(room) };
    opened = await DiskWatermark.open({ disks: [disk], minFreeBytes: 75 * MB, observer, lookEveryMs: 1 });
    opened.queued(3 * MB);
    opened.check();
    opened.queued(4 * MB);
    expect(() => opened?.check()).to.throw('DATA_DIR has 74 MB left and MIN_FREE_DISK_MB keeps 75 MB free');
    expect(refused(opened, 4 * MB)).to.equal(true);
    expect(refused(opened)).to.equal(false);
    await seen(opened, 70 * MB, 1_000 * MB);
    await seen(opened, 78 * MB, 1_000 * MB);
    expect(() => opened?.check()).to.throw(
      'has 78 MB left and MIN_FREE_DISK_MB keeps 75 MB free; writes resume at 83 MB',
    );
    expect(refused(opened)).to.equal(true);
  });

  it('has to be a little more before spans are taken again', async () => {
    room = { free: 1_000, total: 10_000 };
    const watched = await watermark(1_000);
    expect(refused(watched)).to.equal(false);
    await seen(watched, 999, 10_000);
    expect(refused(watched)).to.equal(true);
    expect(() => watched.check()).to.throw('MIN_FREE_DISK_MB');
    await seen(watched, 1_050, 10_000);
    expect(refused(watched)).to.equal(true);
    await seen(watched, 1_100, 10_000);
    expect(refused(watched)).to.equal(false);
    watched.check();
  });

  it('is not demanded of what has no bounds, nor when none is to stay free', async () => {
    room = null;
    expect(refused(await watermark(5), GIGABYTE)).to.equal(false);
    await opened?.close();
    room = { free: 0, total: 10 };
    expect(refused(await watermark(0))).to.equal(false);
  });

  it('of a ClickHouse server is that of the disks of its tables', async function () {
    this.timeout(20_000);
    const { client, dispose } = await openStore();
    try {
      const found = await serverRoomReader(client)(new AbortController().signal);
      expect(found?.total).to.be.above(0);
      expect(found?.free).to.be.within(1, found?.total ?? 0);
    } finally {
      await dispose();
    }
  });

  it('lasts as long as the pace of the last day says', () => {
    const HOUR = 3_600_000_000;
    const disk = { name: 'data', free: 1_000, total: 5_000, minFree: 100, holds: ['spans', 'sqlite'] as const };
    const measured = (at: number, spans: number, sqlite: number) => ({
      at,
      stored: { spans, rollups: 7 * at, words: 0, attachments: 0, sqlite },
      disks: [disk],
    });
    const now = measured(100 * HOUR, 300, 100);
    const outlook = (earlier?: typeof now) => {
      const [{ growsPerDay, daysLeft } = {}] = growingDisks(now, earlier);
      return [growsPerDay, daysLeft];
    };
    expect(outlook()).to.deep.equal([null, null]);
    expect(outlook(measured(99.5 * HOUR, 0, 0))).to.deep.equal([null, null]);
    expect(outlook(measured(76 * HOUR, 100, 50))).to.deep.equal([250, 3]);
    expect(outlook(measured(88 * HOUR, 200, 100))).to.deep.equal([200, 4]);
    expect(outlook(measured(76 * HOUR, 300, 150))).to.deep.equal([-50, null]);
  });
});
