import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { BackgroundLoop, type BackgroundLoopOptions } from '../../src/domain/job/background-loop.js';

describe('a background loop', () => {
  let loop: BackgroundLoop;
  let rounds: number;
  let failures: number;
  afterEach(() => loop.close());

  function open(round: BackgroundLoopOptions['round'], options: Partial<BackgroundLoopOptions> = {}): void {
    [rounds, failures] = [0, 0];
    loop = new BackgroundLoop({
      round() {
        rounds += 1;
        return round();
      },
      onFailure: () => (failures += 1),
      retryMs: 20,
      ...options,
    });
  }

  it('takes up together what wakes it in one turn, and in a round of its own what wakes it meanwhile', async () => {
    open(() => sleep(10, Infinity));
    loop.wake();
    loop.wake();
    await sleep(5);
    expect(rounds).to.equal(1);
    loop.wake();
    loop.wake();
    await sleep(40);
    expect(rounds).to.equal(2);
  });

  it('looks again when it is due, at the earliest of the times it was told', async () => {
    open(() => (rounds < 3 ? 10 : Infinity));
    loop.wakeIn(60_000);
    loop.wakeIn(10);
    loop.wakeIn(60_000);
    await sleep(100);
    expect(rounds).to.equal(3);
  });

  it('pauses after a failure, whatever wakes it, and the longer the more fail in a row', async () => {
    open(
      () => {
        throw new Error('no');
      },
      { maxRetryMs: 60_000 },
    );
    loop.wake();
    for (const until = performance.now() + 150; performance.now() < until;) {
      loop.wake();
      await sleep(2);
    }
    expect(failures).to.equal(rounds).and.to.be.within(3, 5);
  });

  it('closes when the round under way is over, cuts its rests short and begins no other', async () => {
    let over = false;
    open(async () => {
      await loop.rest(60_000);
      await sleep(10);
      over = true;
      return 0;
    });
    loop.wake();
    await sleep(5);
    loop.wake();
    await loop.close();
    expect(over).to.equal(true);
    loop.wake();
    loop.wakeIn(0);
    await sleep(10);
    expect(rounds).to.equal(1);
  });
});
