import { sumOf } from './intervals.js';
import type { RandomBits } from './random-bits.js';
import { DRAWN_ROWS, farthestOf, OUTLYING_ROWS, RESAMPLES } from './resamples.js';

/** Up to so many differences, all ways to set their signs are tried: half a million, as each way has its mirror. */
const ALL_SIGNS = 20;

/**
 * The two-sided probability of a mean at least as far from 0, if each difference could as well have the other sign: exact of few
 * differences, else of 10,000 ways to set them. Rows without a difference say nothing. That of a ratio of two sums is the same,
 * as a swap in a row changes their difference alone, and not their total.
 *
 * Of many differences, the signs of the largest are drawn, and the sum of the others, which is normal by then, at once: their
 * kurtosis is all that is left out, below 1 / (the number of others).
 * Source: M. D. Ernst, Statistical Science 19 (2004) 676–685, 3; the 1 added: B. Phipson, G. K. Smyth, Statistical
 * Applications in Genetics and Molecular Biology 9 (2010) 39.
 */
export function signFlipTest(differences: Float64Array, random: RandomBits, resamples = RESAMPLES): number {
  const changed = differences.filter((value) => value !== 0);
  // What rounding makes of one and the same sum.
  const found = Math.abs(sumOf(changed)) - 1e-10 * sumOf(changed.map(Math.abs));
  if (changed.length === 0) return 1;
  if (changed.length <= ALL_SIGNS) return exactly(changed, found);

  const { drawn, deviation } = split(changed);
  let reached = 1;
  for (let resample = 0; resample < resamples; resample += 1) {
    const rest = deviation === 0 ? 0 : deviation * random.normal();
    if (Math.abs(withSigns(drawn, random) + rest) >= found) reached += 1;
  }
  return reached / (resamples + 1);
}

/** What gets its signs one by one, and the standard deviation of the sum of the rest. */
function split(changed: Float64Array): { readonly drawn: Float64Array; readonly deviation: number } {
  if (changed.length <= DRAWN_ROWS) return { drawn: changed, deviation: 0 };
  const { farthest, others } = farthestOf(changed.map(Math.abs), OUTLYING_ROWS);
  const squares = Float64Array.from(others, (row) => (changed[row] ?? 0) ** 2);
  return {
    drawn: Float64Array.from(farthest, (row) => changed[row] ?? 0),
    deviation: Math.sqrt(sumOf(squares)),
  };
}

function withSigns(values: Float64Array, random: RandomBits): number {
  let sum = 0;
  let bits = 0;
  for (let index = 0; index < values.length; index += 1) {
    if ((index & 31) === 0) bits = random.bits();
    sum += (values[index] ?? 0) * (1 - 2 * (bits & 1));
    bits >>>= 1;
  }
  return sum;
}

/** Tries all signs but the first's in the order of Gray's code, of which each step turns one. */
function exactly(changed: Float64Array, found: number): number {
  const ways = 2 ** (changed.length - 1);
  const signed = changed.slice();
  let sum = sumOf(signed);
  let reached = 0;
  for (let way = 1; way <= ways; way += 1) {
    if (Math.abs(sum) >= found) reached += 1;
    const turned = 32 - Math.clz32(way & -way);
    const value = -(signed[turned] ?? 0);
    signed[turned] = value;
    sum += 2 * value;
  }
  return reached / ways;
}
