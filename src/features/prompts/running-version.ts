import { LATEST, type StoredVersion } from './prompt.js';
import type { PromptStore } from './prompt-store.js';

/** The tag that says which version is in use; while it is not pinned, the latest is. */
export const RUNNING_TAG = 'production';

/** The version of a prompt that is in use, and the tag that says so; undefined when there is no such prompt. */
export function runningVersion(
  prompts: Pick<PromptStore, 'findVersion'>,
  projectId: string,
  slug: string,
): { readonly version: StoredVersion; readonly tag: string } | undefined {
  for (const tag of [RUNNING_TAG, LATEST]) {
    const version = prompts.findVersion(projectId, slug, { by: 'tag', tag });
    if (version !== undefined) return { version, tag };
  }
  return undefined;
}
