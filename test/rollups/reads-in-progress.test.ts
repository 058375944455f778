import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReadsInProgress } from '../../src/engine/traces/read/reads-in-progress.js';
import { Governor } from '../../src/engine/work/governor.js';

const readsOf = (settled: () => number, longestMs?: number, governor = new Governor()) =>
  new ReadsInProgress(
    {
      settle: async () => settled(),
      readable: async () => undefined,
      committed: () => ({ upTo: settled() + 2, traces: [], sessions: [] }),
    },
    governor,
    longestMs,
  );

describe('reads in progress', () => {
  it('hold the oldest state that one of them reads, until it has ended in whatever way', async () => {
    let settled = 7;
    const governor = new Governor();
    const reads = readsOf(() => settled, undefined, governor);
    expect([reads.underWay, governor.listsAreRead]).to.deep.equal([false, false]);
    const first = await reads.open('p');
    expect([reads.underWay, governor.listsAreRead]).to.deep.equal([true, false]);
    settled = 9;
    await reads.run('p', async (upTo) => expect([upTo, reads.oldest()]).to.deep.equal([9, 7]));
    await reads.ofCommitted('p', { figures: true, traces: null }, async ({ upTo }) => {
      expect([upTo, reads.oldest()]).to.deep.equal([11, 7]);
      expect([reads.underWay, governor.listsAreRead]).to.deep.equal([true, true]);
      expect([reads.oldestStill('p', true), reads.oldestStill('q', false)]).to.deep.equal([11, Infinity]);
    });
    await reads.at(5, async () => expect(reads.oldest()).to.equal(5));
    const failed = await reads.at(3, () => Promise.reject(new Error('failed'))).catch(String);
    expect([failed, reads.oldest()]).to.deep.equal(['Error: failed', 7]);
    first.release();
    first.release();
    expect(reads.oldest()).to.equal(Infinity);
    expect([reads.underWay, governor.listsAreRead]).to.deep.equal([false, true]);
  });

  it('are read once more, in the state of then, when rows were rolled up that are newer than theirs', async () => {
    let settled = 7;
    const reads = readsOf(() => settled);
    const slow = (again: boolean) => {
      const states: number[] = [];
      return reads.ofCommitted('p', { figures: true, traces: null, again }, async ({ upTo }) => {
        states.push(upTo);
        settled += 1;
        if (states.length > 1) return states;
        // Longer than a read of a project with much that waits holds its rows as they are.
        await sleep(1_050);
        expect(reads.oldestStill('q', true), 'another project').to.equal(Infinity);
        expect(reads.oldestStill('p', true)).to.equal(Infinity);
        return states;
      });
    };
    expect(await slow(true)).to.deep.equal([9, 10]);
    expect(await slow(false)).to.deep.equal([11]);
  });

  it('hold nothing for good when they never end', async () => {
    const reads = readsOf(() => 7, 5);
    await reads.open('p');
    await sleep(10);
    expect(reads.oldest()).to.equal(Infinity);
  });
});
