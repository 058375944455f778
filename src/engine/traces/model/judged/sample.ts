import { createHash } from 'node:crypto';

/** Text hashed to decide whether a span, trace or session belongs to the sample of a judge. */
export function sampleKey(subjectId: string, judgeId: string): string {
  return `${subjectId}/${judgeId}`;
}

/**
 * A number from 0 to 1, always the same for a subject and a judge: the first four bytes of a SHA-256, least significant
 * first, over 2^32. The span, trace or session is in the sample when it is less than the sample rate.
 */
export function sampleHash(subjectId: string, judgeId: string): number {
  return createHash('sha256').update(sampleKey(subjectId, judgeId)).digest().readUInt32LE(0) / 2 ** 32;
}
