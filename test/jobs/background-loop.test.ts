import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { BackgroundLoop, type BackgroundLoopOptions } from '../../src/engine/work/background-loop.js';
import { until } from '../harness/until.js';

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
      retry: { firstMs: 20, mostMs: 20 },
      ...options,
    });
  }

  it('takes up together what wakes it in one turn, and in a round of its own what wakes it meanwhile', async () => {
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    open(() => over.then(() => Infinity));
    loop.wake();
    loop.wake();
    await until('a round begins', () => rounds > 0);
    loop.wake();
    loop.wake();
    expect(rounds).to.equal(1);
    end();
    await until('another one follows', () => rounds > 1);
    await sleep(10);
    expect(rounds).to.equal(2);
  });

  it('looks again when it is due, at the earliest of the times it was told', async () => {
    open(() => (rounds < 3 ? 10 : Infinity));
    loop.wakeIn(60_000);
    loop.wakeIn(10);
    loop.wakeIn(60_000);
    await until('it has looked three times', () => rounds >= 3);
    await sleep(30);
    expect(rounds).to.equal(3);
  });

  it('pauses after a failure, whatever wakes it, and the longer the more fail in a row', async () => {
    const began: number[] = [];
    open(
      () => {
        began.push(performance.now());
        throw new Error('no');
      },
      { retry: { firstMs: 20, mostMs: 60_000 } },
    );
    while (rounds < 4) {
      loop.wake();
      await sleep(2);
    }
    expect(failures).to.equal(rounds);
    const pauses = began.slice(1).map((at, index) => at - (began[index] ?? 0));
    // Half of 20, 40 and 80 ms at least, but for what timers are early.
    for (const [index, least] of [10, 20, 40].entries()) expect(pauses[index]).to.be.at.least(least - 2);
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
