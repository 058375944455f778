import { expect } from 'chai';
import { CommitBatcher } from '../../src/storage/clickhouse/commit/commit-batcher.js';

describe('how long a commit lingers for more requests', () => {
  const FAR = 5_000;

  const waited = async (batcher: CommitBatcher, waiting: () => { requests: number; rows: number }) => {
    const started = performance.now();
    await batcher.wait(waiting);
    return performance.now() - started;
  };
  const one = () => ({ requests: 1, rows: 1 });

  it('waits for those that the last commit answered and those that waited then, and no longer', async () => {
    const batcher = new CommitBatcher(FAR);
    batcher.committed({ answered: 2, waiting: 1, ms: 10 });
    let requests = 0;
    const arriving = setInterval(() => {
      requests += 1;
      batcher.arrived();
    }, 5);
    expect(await waited(batcher, () => ({ requests, rows: requests }))).to.be.below(FAR / 2);
    clearInterval(arriving);
    expect(requests).to.equal(3);
  });

  it('does not keep a lone client waiting', async () => {
    const batcher = new CommitBatcher(FAR);
    batcher.committed({ answered: 1, waiting: 0, ms: 10 });
    expect(await waited(batcher, one)).to.be.below(FAR / 2);
  });

  it('does not wait with many rows, nor when told never to', async () => {
    expect(await waited(new CommitBatcher(FAR), () => ({ requests: 1, rows: 500 }))).to.be.below(FAR / 2);
    expect(await waited(new CommitBatcher(0), one)).to.be.below(50);
  });

  it('waits longer while others read, but for a client that writes alone', async () => {
    let reading = true;
    const batcher = new CommitBatcher(1, () => reading);
    batcher.committed({ answered: 2, waiting: 1, ms: 60 });
    expect(await waited(batcher, one)).to.be.within(42, FAR);
    reading = false;
    expect(await waited(batcher, one)).to.be.below(40);
    reading = true;
    batcher.committed({ answered: 1, waiting: 0, ms: 60 });
    expect(await waited(batcher, one)).to.be.below(40);
  });

  it('gives up on clients that do not come back', async () => {
    const batcher = new CommitBatcher(1);
    batcher.committed({ answered: 64, waiting: 64, ms: 100 });
    expect(await waited(batcher, one)).to.be.within(20, FAR);
    batcher.committed({ answered: 64, waiting: 64, ms: 60_000 });
    expect(await waited(batcher, one)).to.be.within(45, FAR);
  });
});
