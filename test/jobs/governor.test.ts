import { expect } from 'chai';
import { Governor, restMs, type RestingWork } from '../../src/engine/work/governor.js';

const RECENT_MS = 2_000;

describe('the governor', () => {
  let now: number;
  let governor: Governor;
  beforeEach(() => {
    now = 0;
    governor = new Governor(() => now);
  });

  it('knows of nobody at first', () => {
    expect([governor.clientsCall, governor.listsAreRead, governor.storeIsUsed]).to.deep.equal([false, false, false]);
    expect([governor.writesAreBusy, governor.othersWriteFast(0)]).to.deep.equal([false, false]);
  });

  it('knows that clients call, until a moment after the last of them was answered', async () => {
    let answer: () => void = () => undefined;
    const slow = governor.duringCall(() => new Promise<void>((resolve) => (answer = resolve)));
    const failed = await governor.duringCall(() => Promise.reject(new Error('failed'))).catch(String);
    expect(failed).to.equal('Error: failed');
    now += 10 * RECENT_MS;
    expect(governor.clientsCall).to.equal(true);
    answer();
    await slow;
    now += RECENT_MS - 1;
    expect(governor.clientsCall).to.equal(true);
    now += 1;
    expect(governor.clientsCall).to.equal(false);
    expect(governor.storeIsUsed, 'calls alone').to.equal(false);
  });

  it('knows that lists are read, until a moment after the last of them was', () => {
    const ends = [governor.listRead(), governor.listRead()];
    ends[0]!();
    now += 10 * RECENT_MS;
    expect([governor.listsAreRead, governor.storeIsUsed]).to.deep.equal([true, true]);
    ends[1]!();
    now += RECENT_MS - 1;
    expect(governor.listsAreRead).to.equal(true);
    now += 1;
    expect([governor.listsAreRead, governor.storeIsUsed]).to.deep.equal([false, false]);
  });

  it('knows how busy writing keeps the store, by the flushes of the last seconds', () => {
    governor.flushed({ rows: 1, seconds: 0.399 });
    expect([governor.storeIsUsed, governor.writesAreBusy]).to.deep.equal([true, false]);
    now += 1_000;
    governor.flushed({ rows: 1, seconds: 0.001 });
    expect(governor.writesAreBusy, 'a fifth of the time').to.equal(true);
    now += RECENT_MS - 999;
    expect([governor.storeIsUsed, governor.writesAreBusy], 'of the second one').to.deep.equal([true, false]);
    now += 1_000;
    expect(governor.storeIsUsed).to.equal(false);
  });

  it('tells fast writes of others from those of the work that asks', () => {
    governor.flushed({ rows: 2_000, seconds: 0.8 });
    expect(governor.othersWriteFast(0)).to.equal(true);
    expect(governor.othersWriteFast(1), 'too few are left').to.equal(false);
    governor.flushed({ rows: 2_000, seconds: 0 });
    expect(governor.othersWriteFast(400)).to.equal(true);
    expect(governor.othersWriteFast(401), 'not four times as many').to.equal(false);
    now += RECENT_MS;
    governor.flushed({ rows: 100_000, seconds: 0 });
    now += 1;
    expect(governor.othersWriteFast(0), 'much, in no time').to.equal(false);
  });
});

describe('the rest of work', () => {
  const rests = (work: RestingWork, ...took: number[]) => took.map((ms) => restMs(work, ms));

  it('follows how long a piece of it took, within bounds', () => {
    expect(rests('follow', 0, 100, 1_000)).to.deep.equal([0, 1_900, 5_000]);
    expect(rests('index', 0, 100, 20_000)).to.deep.equal([0, 1_900, 380_000]);
    expect(rests('rollUp', 0, 100, 1_000)).to.deep.equal([100, 800, 2_000]);
    expect(rests('import', 0, 100, 20_000)).to.deep.equal([0, 200, 2_000]);
    expect(rests('upkeep', 0, 100, 20_000)).to.deep.equal([0, 100, 20_000]);
  });

  it('is shared by those who rest together, and never shorter than the work', () => {
    expect([1, 2, 19, 100].map((among) => restMs('follow', 100, among))).to.deep.equal([1_900, 950, 100, 100]);
  });
});
