import { DomainError } from '../../engine/errors.js';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Window } from '../../engine/schema/page.js';
import type { Announce } from '../webhooks/event.js';
import { noVersion, requirePrompt } from './not-found.js';
import { LATEST, MAX_TAGS, type SelectedVersion, type TagEntry, type TagMove, type VersionSelector } from './prompt.js';
import type { PromptStore } from './prompt-store.js';
import { auditVersion } from './version-audit.js';

export interface PromptTagsParts {
  readonly store: PromptStore;
  readonly audit: AuditLog;
  readonly announce: Announce;
  /** @throws DomainError `not_found` */
  readonly find: (projectId: string, slug: string, selector: VersionSelector) => SelectedVersion;
  /** Call after tags changed. */
  readonly changed: () => void;
}

/** Tags of prompts: names that point at versions, and where they pointed. Everything is inside the caller's project. */
export class PromptTags {
  readonly #parts: PromptTagsParts;

  constructor(parts: PromptTagsParts) {
    this.#parts = parts;
  }

  /** @throws DomainError `not_found`; `conflict` for `latest`, and for a new tag beside too many */
  pin(by: Principal, slug: string, entry: TagEntry): TagEntry {
    this.#parts.audit.together(() => this.#pin(by, slug, entry));
    return entry;
  }

  /** As {@link pin}, of several tags: all of them are moved, or none. */
  pinAll(by: Principal, { slug, version }: Pick<SelectedVersion, 'slug' | 'version'>, tags: readonly string[]): void {
    if (tags.length === 0) return;
    this.#parts.audit.together(() => {
      for (const tag of tags) this.#pin(by, slug, { tag, version });
    });
  }

  #pin(by: Principal, slug: string, entry: TagEntry): void {
    const { store, audit, find, changed } = this.#parts;
    const { project_id, user_id } = by;
    requirePrompt(store, project_id, slug);
    if (entry.tag === LATEST)
      throw new DomainError('conflict', 'The tag latest always follows the newest version; it cannot be pinned');
    if (!store.takesTag(project_id, slug, entry.tag))
      throw new DomainError(
        'conflict',
        `A prompt can have at most ${MAX_TAGS} tags, including removed ones, whose history is kept: move an existing tag`,
      );
    const selector = { by: 'number', version: entry.version } as const;
    const pinned = store.pin(project_id, slug, entry, Date.now() * 1000, user_id);
    changed();
    if (!pinned) throw noVersion(selector);
    auditVersion(audit, 'tagMoved', by, find(project_id, slug, selector), [{ field: 'tag', to: entry.tag }]);
    this.#announceMove(by, slug, entry.tag, entry.version);
  }

  /** Removes a tag, except for its history. @throws DomainError `not_found`; `conflict` for `latest` */
  remove(by: Principal, slug: string, tag: string): void {
    const { store, audit, changed } = this.#parts;
    const { project_id, user_id } = by;
    requirePrompt(store, project_id, slug);
    if (tag === LATEST)
      throw new DomainError('conflict', 'The tag latest always follows the newest version; it cannot be removed');
    const selector = { by: 'tag', tag } as const;
    const pointedAt = store.findVersion(project_id, slug, selector);
    audit.together(() => {
      if (!store.removeTag(project_id, slug, tag, Date.now() * 1000, user_id) || pointedAt === undefined)
        throw noVersion(selector);
      auditVersion(audit, 'tagRemoved', by, pointedAt, [{ field: 'tag', from: tag }]);
      this.#announceMove(by, slug, tag, null);
    });
    changed();
  }

  /** Call in the transaction of the move. @param version null: the tag was removed */
  #announceMove({ project_id, user_id }: Principal, slug: string, tag: string, version: number | null): void {
    const where = version === null ? 'was removed' : `points to version ${version}`;
    this.#parts.announce({
      ...{ project_id, type: 'prompt.tag_moved', summary: `The tag ${tag} of the prompt ${slug} ${where}` },
      data: { prompt_slug: slug, tag, version, moved_by: user_id },
    });
  }

  /** Tags and the versions they point at; `latest` comes first. @throws DomainError `not_found` */
  list(projectId: string, slug: string): TagEntry[] {
    const { store, find } = this.#parts;
    const { version } = find(projectId, slug, { by: 'tag', tag: LATEST });
    return [{ tag: LATEST, version }, ...store.listTags(projectId, slug)];
  }

  /** The tags that point at a version; `latest` comes first. */
  of({ prompt_id, version, latest_version }: SelectedVersion): string[] {
    const pinned = this.#parts.store.tagsOf(prompt_id).filter((entry) => entry.version === version);
    return [...(version === latest_version ? [LATEST] : []), ...pinned.map(({ tag }) => tag)];
  }

  /** Moves of a tag and its removals, newest first. @throws DomainError `not_found` when it was never pinned */
  history(projectId: string, slug: string, tag: string, window: Window): TagMove[] {
    const { store } = this.#parts;
    requirePrompt(store, projectId, slug);
    const read = (part: Window) => store.tagHistory(projectId, slug, tag, part);
    const moves = read(window);
    if (moves.length === 0 && read({ limit: 1, offset: 0 }).length === 0) throw noVersion({ by: 'tag', tag });
    return moves;
  }
}
