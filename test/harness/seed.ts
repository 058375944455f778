import { randomInt } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

/** Hash of the sources that the tests were compiled from (scripts/bootstrap.mjs). */
const FINGERPRINT = new URL('../../sources.sha256', import.meta.url);
const RANDOM = 'random';

/**
 * The seed of tests that try things by chance: the number in that variable of the environment, or one that belongs to
 * the sources. So whoever runs the tests of a commit tries what its CI tried, and each change of the sources tries
 * something else. With `random` in the variable each run tries something else.
 */
export function seedOf(variable: string): number {
  const given = process.env[variable];
  if (given !== undefined && given !== RANDOM) return Number(given);
  if (given === RANDOM || !existsSync(FINGERPRINT)) return randomInt(2 ** 31);
  return Number.parseInt(readFileSync(FINGERPRINT, 'utf8').slice(0, 7), 16);
}
