import { expect } from 'chai';
import { Breaker } from '../../src/engine/work/backoff.js';

const BASE_MS = 1_000;
const RETRY = { firstMs: BASE_MS, mostMs: 60_000 };
const TRIPPED_AFTER = 10;

describe('the breaker of a model', () => {
  const fail = (breaker: Breaker, times: number) => {
    for (let time = 0; time < times; time += 1) breaker.failed(null);
  };

  it('holds calls back once so many failed in a row, one at a time', () => {
    const breaker = new Breaker(RETRY);
    fail(breaker, TRIPPED_AFTER - 1);
    expect([breaker.waitMs(), breaker.atOnce(8)]).to.deep.equal([0, 8]);
    fail(breaker, 1);
    expect(breaker.waitMs()).to.be.within(BASE_MS / 2 - 50, BASE_MS);
    expect(breaker.atOnce(8)).to.equal(1);
  });

  it('is open from then on, until a call succeeds', () => {
    const breaker = new Breaker(RETRY);
    const isOpen = () => [breaker.isOpen(false), breaker.isOpen(true)];
    fail(breaker, TRIPPED_AFTER - 1);
    expect(isOpen(), 'single calls failed').to.deep.equal([false, false]);
    fail(breaker, 1);
    expect(isOpen()).to.deep.equal([true, true]);
    breaker.succeeded();
    expect(isOpen()).to.deep.equal([false, false]);
  });

  it('does not hold them back the longer, the more were under way when it began to', () => {
    const breaker = new Breaker(RETRY);
    fail(breaker, TRIPPED_AFTER + 8);
    expect(breaker.waitMs()).to.be.at.most(BASE_MS);
  });
});
