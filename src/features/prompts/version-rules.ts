import { createHash } from 'node:crypto';
import type { Issue } from '../../engine/errors.js';
import { metadataIssues } from '../../engine/schema/metadata.js';
import { MAX_CONTENT_BYTES } from './schema.js';

/** A version as it comes in, as far as it fits the schema. */
export interface StatedVersion {
  readonly content?: string;
  readonly content_hash?: string | null;
  readonly metadata?: unknown;
}

/** Issues with a version that no schema can say. @param hash of its content */
export function versionIssues({ content, content_hash, metadata }: StatedVersion, hash: string): Issue[] {
  const issues: Issue[] = [];
  // Content that cannot be kept byte for byte is refused rather than changed.
  if (content?.isWellFormed() === false)
    issues.push({ pointer: '/content', detail: 'must not contain an unpaired surrogate' });
  else if (content !== undefined && Buffer.byteLength(content) > MAX_CONTENT_BYTES)
    issues.push({ pointer: '/content', detail: `must be at most ${MAX_CONTENT_BYTES} bytes` });
  else if (content !== undefined && content_hash != null && content_hash.toLowerCase() !== hash)
    issues.push({ pointer: '/content_hash', detail: 'must be the SHA-256 of the content' });
  return [...issues, ...metadataIssues(metadata)];
}

export function hashOf(content: string): string {
  return createHash('sha256').update(content, 'utf8').digest('hex');
}
