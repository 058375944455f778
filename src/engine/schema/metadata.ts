import type { Issue } from '../errors.js';

/** Longest metadata, in characters of JSON. */
export const MAX_METADATA = 262_144;

/** Issues with JSON that a client keeps with something: no schema bounds how much that is. */
export function metadataIssues(metadata: unknown, pointer = '/metadata'): Issue[] {
  if (metadata == null || JSON.stringify(metadata).length <= MAX_METADATA) return [];
  return [{ pointer, detail: `must have at most ${MAX_METADATA} characters as JSON` }];
}
