import { createHash } from 'node:crypto';

/** Text hashed to decide whether a span belongs to the sample of a judge. */
export function sampleKey(spanId: string, judgeId: string): string {
  return `${spanId}/${judgeId}`;
}

/**
 * A number from 0 to 1, always the same for a span and a judge: the first four bytes of a SHA-256, least significant
 * first, over 2^32. The span is in the sample when it is less than the sample rate.
 */
export function sampleHash(spanId: string, judgeId: string): number {
  return createHash('sha256').update(sampleKey(spanId, judgeId)).digest().readUInt32LE(0) / 2 ** 32;
}
