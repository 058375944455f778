import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';
import type { PromptSummary, StoredVersion, TagEntry, TagMove, VersionDraft, VersionSelector } from './prompt.js';
import type { VersionUses } from './version-uses.js';

/**
 * Where prompts are kept. Everything is inside one project; another project's prompts do not exist.
 *
 * Guarantees: a write that returned is durable and seen by every later read, and each write is atomic, also against
 * other processes: no two versions get the same number or the same content, numbers grow and are never given again, and pins have one order.
 * Throws `DomainError('unavailable')` when the store does not answer; nothing is written then.
 */
export interface PromptStore {
  /** Number that changes when another process wrote anything since the last call; cheap enough for every request. */
  changeCounter(): number;
  hasPrompt(projectId: string, slug: string): boolean;
  /** Prompts, ascending by slug. @param q text that slugs contain, whatever its case */
  listPrompts(projectId: string, window: Window, q: string): Omit<PromptSummary, 'tags'>[];
  /** How many there are of them. */
  countPrompts(projectId: string, q: string): number;
  /**
   * The version with the draft's hash: the existing one unchanged, else a new one; the prompt is made when missing.
   * @throws DomainError `conflict` when the prompt has come to the highest number that versions have
   */
  ensureVersion(projectId: string, slug: string, draft: VersionDraft): StoredVersion;
  findVersion(projectId: string, slug: string, selector: VersionSelector): StoredVersion | undefined;
  /** The next one by its number; versions that were deleted have none. */
  versionAfter(projectId: string, slug: string, version: number): StoredVersion | undefined;
  findVersionById(projectId: string, id: string): StoredVersion | undefined;
  /** Binds a model to a version, or with null unbinds; false when there is no such version. */
  bindModel(projectId: string, slug: string, version: number, modelId: string | null, at: Micros): boolean;
  /**
   * Deletes a version, and with the last one its prompt; false when there is no such version.
   * @param admit is told what uses the version, and throws to keep it
   */
  removeVersion(projectId: string, slug: string, version: number, admit: (uses: VersionUses) => void): boolean;
  /** Moves a tag, which is not `latest`, to a version; false when there is no such version. */
  pin(projectId: string, slug: string, entry: TagEntry, at: Micros, by: string): boolean;
  /** Stores all that is written meanwhile, or nothing of it. */
  together<T>(writes: () => T): T;
  /** Whether a prompt had this tag ever, or has fewer than `MAX_TAGS`, removed ones included. */
  takesTag(projectId: string, slug: string, tag: string): boolean;
  /** Removes a tag, which is not `latest`, except for its history; false when there is no such tag. */
  removeTag(projectId: string, slug: string, tag: string, at: Micros, by: string): boolean;
  /** Tags and the versions they point at, ascending by name, without `latest`. */
  listTags(projectId: string, slug: string): TagEntry[];
  /** As {@link listTags}, of a prompt by its id. */
  tagsOf(promptId: string): TagEntry[];
  /** Moves of a tag and its removals, newest first; for `latest`, the versions as they came. */
  tagHistory(projectId: string, slug: string, tag: string, window: Window): TagMove[];
}
