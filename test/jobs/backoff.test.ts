import { expect } from 'chai';
import { RETRIES, retryDelay } from '../../src/engine/work/backoff.js';

describe('the wait before another attempt', () => {
  it('doubles up to a bound, and is spread over its second half', () => {
    const { firstMs, mostMs } = RETRIES.work;
    for (const [attempt, longest] of [firstMs, 2 * firstMs, 4 * firstMs].entries())
      expect(retryDelay(attempt + 1, RETRIES.work)).to.be.within(longest / 2, longest);
    for (const retry of Object.values(RETRIES))
      expect(retryDelay(1_000, retry)).to.be.within(retry.mostMs / 2, retry.mostMs);
    expect(mostMs).to.be.greaterThan(4 * firstMs);
  });

  it('is at least what was asked for, whatever the bound', () => {
    expect(retryDelay(1, RETRIES.soon, 60_000)).to.be.within(60_000, 66_000);
  });
});
