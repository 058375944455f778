import { expect } from 'chai';
import { Gathering } from '../../src/storage/clickhouse/commit/gathering.js';

describe('how long a commit waits for company', () => {
  const FAR = 5_000;

  const waited = async (gathering: Gathering, waiting: () => { requests: number; rows: number }) => {
    const started = performance.now();
    await gathering.wait(waiting);
    return performance.now() - started;
  };
  const one = () => ({ requests: 1, rows: 1 });

  it('waits for those that the last commit answered and those that waited then, and no longer', async () => {
    const gathering = new Gathering(FAR);
    gathering.committed({ answered: 2, waiting: 1, ms: 10 });
    let requests = 0;
    const arriving = setInterval(() => {
      requests += 1;
      gathering.arrived();
    }, 5);
    expect(await waited(gathering, () => ({ requests, rows: requests }))).to.be.below(FAR / 2);
    clearInterval(arriving);
    expect(requests).to.equal(3);
  });

  it('does not keep a lone client waiting', async () => {
    const gathering = new Gathering(FAR);
    gathering.committed({ answered: 1, waiting: 0, ms: 10 });
    expect(await waited(gathering, one)).to.be.below(FAR / 2);
  });

  it('does not wait with many rows, nor when told never to', async () => {
    expect(await waited(new Gathering(FAR), () => ({ requests: 1, rows: 500 }))).to.be.below(FAR / 2);
    expect(await waited(new Gathering(0), one)).to.be.below(50);
  });

  it('waits longer while others read, but for a client that writes alone', async () => {
    let reading = true;
    const gathering = new Gathering(1, () => reading);
    gathering.committed({ answered: 2, waiting: 1, ms: 60 });
    expect(await waited(gathering, one)).to.be.within(42, FAR);
    reading = false;
    expect(await waited(gathering, one)).to.be.below(40);
    reading = true;
    gathering.committed({ answered: 1, waiting: 0, ms: 60 });
    expect(await waited(gathering, one)).to.be.below(40);
  });

  it('gives up on clients that do not come back', async () => {
    const gathering = new Gathering(1);
    gathering.committed({ answered: 64, waiting: 64, ms: 100 });
    expect(await waited(gathering, one)).to.be.within(20, FAR);
    gathering.committed({ answered: 64, waiting: 64, ms: 60_000 });
    expect(await waited(gathering, one)).to.be.within(45, FAR);
  });
});
