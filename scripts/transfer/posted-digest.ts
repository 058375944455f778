import type { Part } from '../../src/features/transfer/parts.js';
import { checksum } from './format.js';

/** What is posted about traces and sessions, and scores: it may be posted anew at any time, and keeps its place among the others. */
export const POSTED = ['traces', 'sessions', 'scores'] as const satisfies readonly Part[];

/** Checksums of what was posted, of each part, as far as it was read from its beginning. */
export type PostedDigest = Readonly<Partial<Record<Part, string>>>;

export function isPosted(part: Part): part is (typeof POSTED)[number] {
  return (POSTED as readonly Part[]).includes(part);
}

/** The checksums with one more page. @param after where the page began; null: with the first record */
export function withPage(
  digest: PostedDigest,
  part: Part,
  after: string | null,
  records: readonly unknown[],
): PostedDigest {
  const before = after === null ? '' : digest[part];
  if (!isPosted(part) || before === undefined) return digest;
  return { ...digest, [part]: records.reduce<string>((sum, record) => checksum(sum, JSON.stringify(record)), before) };
}

/** Whether nothing was posted between two readings. */
export function isSame(one: PostedDigest, other: PostedDigest): boolean {
  return POSTED.every((part) => one[part] !== undefined && one[part] === other[part]);
}
