import jStat from 'jstat';
import type { RandomBits } from './random-bits.js';

/** The probability of so many successes. */
export function binomialMass(successes: number, count: number, share: number): number {
  if (share <= 0 || share >= 1) return successes === (share <= 0 ? 0 : count) ? 1 : 0;
  const ways = jStat.gammaln(count + 1) - jStat.gammaln(successes + 1) - jStat.gammaln(count - successes + 1);
  return Math.exp(ways + successes * Math.log(share) + (count - successes) * Math.log1p(-share));
}

/** The probability of at most so many heads of a fair coin; for fewer than half of the throws, whose terms fall away quickly. */
export function coinTail(heads: number, count: number): number {
  let term = binomialMass(heads, count, 0.5);
  let sum = 0;
  for (let each = heads; each >= 0 && term > sum * 1e-17; each -= 1) {
    sum += term;
    term *= each / (count - each + 1);
  }
  return sum;
}

/** Draws numbers of successes by the table of their probabilities, from twelve deviations below the mean to twelve above. */
export function binomialDraws(count: number, share: number, random: RandomBits): () => number {
  const middle = count * share;
  const reach = 12 * Math.sqrt(middle * (1 - share)) + 12;
  const lowest = Math.max(0, Math.floor(middle - reach));
  const highest = Math.min(count, Math.ceil(middle + reach));
  const upTo = new Float64Array(highest - lowest + 1);
  let sum = 0;
  for (let index = 0; index < upTo.length; index += 1) {
    sum += binomialMass(lowest + index, count, share);
    upTo[index] = sum;
  }
  return () => lowest + firstAbove(upTo, random.share() * sum);
}

/** Index of the first of rising numbers that is above a value. */
function firstAbove(rising: Float64Array, value: number): number {
  let low = 0;
  let high = rising.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rising[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}
