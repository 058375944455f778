import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { DomainError } from '../../engine/errors.js';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { AuditChange } from '../../engine/signals/catalog/audit.js';
import type { NameModel } from '../../engine/models/model-name.js';
import { fitting } from '../../engine/validation/fitting.js';
import { compile } from '../../engine/validation/validation.js';
import {
  LATEST,
  MAX_TAGS,
  type ModelBinding,
  type PromptSummary,
  type SelectedVersion,
  type StoredVersion,
  type TagEntry,
  type TagMove,
  type VersionSelector,
} from './prompt.js';
import type { PromptStore } from './prompt-store.js';
import type { Window } from '../../engine/schema/page.js';
import type { Announce } from '../webhooks/event.js';
import { EnsureInput } from './schema.js';
import { checkVersion } from './version-rules.js';
import { needsOf } from './version-uses.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface PromptServiceOptions {
  readonly store: PromptStore;
  readonly modelName: NameModel;
  readonly observer: Pick<Signals, 'promptFetched'>;
  readonly audit: AuditLog;
  readonly announce: Announce;
}

/** How much of fetched versions is kept in memory, in characters of JSON; presenters may keep that text as well. */
const CACHE_SIZE = 16 * 1024 * 1024;
const MAX_CACHED = 10_000;
/** One entry larger than this is read from the store each time. */
const MAX_ENTRY_SIZE = CACHE_SIZE / 2;

/** How long the event loop may be kept by reading the tags of one prompt after another. */
const TURN_MS = 10;

/** Versions that are deleted together: more would keep others waiting. */
const MAX_DELETED = 500;

const checkInput = compile(EnsureInput);

/** Prompts: versions that never change, tags that point at them. Everything is inside the caller's project. */
export class PromptService {
  readonly #store: PromptStore;
  readonly #observer: Pick<Signals, 'promptFetched'>;
  readonly #audit: AuditLog;
  readonly #modelName: NameModel;
  readonly #announce: Announce;
  /** Answers of `fetch`, by what was asked for. */
  readonly #fetched = new LRUCache<string, SelectedVersion>({
    max: MAX_CACHED,
    maxSize: CACHE_SIZE,
    maxEntrySize: MAX_ENTRY_SIZE,
    sizeCalculation: (version, key) => JSON.stringify(version).length + key.length,
  });
  #seenChange = -1;

  constructor({ store, modelName, observer, audit, announce }: PromptServiceOptions) {
    this.#store = store;
    this.#modelName = modelName;
    this.#observer = observer;
    this.#audit = audit;
    this.#announce = announce;
  }

  /**
   * What clients call at their start: the version from memory, the same object, when nothing was written since. A write
   * by any process counts from the next call on.
   * @throws DomainError `not_found`
   */
  fetch(projectId: string, slug: string, selector: VersionSelector): SelectedVersion {
    this.#forgetWhenChanged();
    const key = `${projectId}\n${slug}\n${cacheKeyOf(selector)}`;
    const known = this.#fetched.get(key);
    if (known !== undefined) {
      this.#observer.promptFetched({ result: 'cached' });
      return known;
    }
    try {
      const version = this.find(projectId, slug, selector);
      this.#fetched.set(key, version);
      this.#observer.promptFetched({ result: 'read' });
      return version;
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'not_found')
        this.#observer.promptFetched({ result: 'not_found' });
      throw error;
    }
  }

  /** @throws DomainError `not_found` */
  find(projectId: string, slug: string, selector: VersionSelector): SelectedVersion {
    const found = this.#store.findVersion(projectId, slug, selector);
    if (found === undefined) {
      this.#requirePrompt(projectId, slug);
      throw new DomainError('not_found', missing(selector));
    }
    return { ...found, tag: selector.by === 'tag' ? selector.tag : null };
  }

  /** @throws DomainError `not_found` */
  findById(projectId: string, versionId: string): SelectedVersion {
    const found = this.#store.findVersionById(projectId, versionId);
    if (found === undefined) throw new DomainError('not_found', 'There is no prompt version with this id');
    return { ...found, tag: null };
  }

  /**
   * Makes sure that the prompt has a version with this content, however often and however many at once ask.
   * @param body an EnsureInput
   * @throws DomainError `invalid` when a rule is broken, `conflict` when there is no number left; nothing is made then
   */
  ensure(by: Principal, slug: string, body: unknown): SelectedVersion {
    const { project_id, user_id } = by;
    const sent = fitting(checkInput, body);
    // Nothing is known of a content whose messages are none.
    const { issues, content, hash } = checkVersion(sent.isMisfit('messages') ? {} : sent.values);
    const { model_id, metadata } = sent.require(sent.isMisfit('messages') ? [] : issues);
    const draft = {
      ...content,
      content_hash: hash,
      model_id: model_id ?? null,
      metadata: metadata ?? {},
      created_by: user_id,
      created_at: Date.now() * 1000,
    };
    const stored =
      this.#store.findVersion(project_id, slug, { by: 'hash', hash }) ??
      this.#audit.together(() => {
        const made = this.#store.ensureVersion(project_id, slug, draft);
        this.#tell('promptVersionMade', by, made);
        return made;
      });
    this.#fetched.clear();
    return { ...stored, tag: null };
  }

  /** Empties the cache of fetched prompts. */
  forget(): void {
    this.#fetched.clear();
  }

  /** The model bound to a version. @throws DomainError `not_found` */
  model(projectId: string, versionId: string): ModelBinding {
    const { model_id } = this.findById(projectId, versionId);
    return { model_id, provider: model_id === null ? null : this.#modelName(projectId, null, model_id).provider };
  }

  /** Binds a model, or with null unbinds. @throws DomainError `not_found` */
  bindModel(by: Principal, slug: string, version: number, modelId: string | null): SelectedVersion {
    const { project_id: projectId } = by;
    this.#requirePrompt(projectId, slug);
    const selector = { by: 'number', version } as const;
    const found = this.#audit.together(() => {
      if (!this.#store.bindModel(projectId, slug, version, modelId, Date.now() * 1000))
        throw new DomainError('not_found', missing(selector));
      const bound = this.find(projectId, slug, selector);
      this.#tell('promptVersionChanged', by, bound, [{ field: 'model_id' }]);
      return bound;
    });
    this.#fetched.clear();
    return found;
  }

  /**
   * Deletes a version, and with the only one the prompt.
   * @throws DomainError `not_found`; `conflict` that names what needs the version
   */
  deleteVersion(by: Principal, slug: string, version: number): void {
    const { project_id: projectId } = by;
    this.#requirePrompt(projectId, slug);
    this.#audit.together(() => {
      const selector = { by: 'number', version } as const;
      const known = this.#store.findVersion(projectId, slug, selector);
      const removed = this.#store.removeVersion(projectId, slug, version, (uses) => {
        const needs = needsOf(uses);
        if (needs.length > 0)
          throw new DomainError('conflict', `Version ${version} cannot be deleted: ${needs.join('; ')}`);
      });
      if (!removed || known === undefined) throw new DomainError('not_found', missing(selector));
      this.#tell('promptVersionDeleted', by, known);
    });
    this.#fetched.clear();
  }

  #tell(
    event: 'promptVersionMade' | 'promptVersionChanged' | 'promptVersionDeleted' | 'tagMoved' | 'tagRemoved',
    by: Principal,
    { id, slug, version }: Pick<StoredVersion, 'id' | 'slug' | 'version'>,
    changes: readonly AuditChange[] = [],
  ): void {
    const about = { project_id: by.project_id, subject_id: id, subject_name: `${slug} v${version}` };
    this.#audit.done({ event, by, ...about, changes });
  }

  /**
   * Deletes a version with the tags that point at it, or every version: all of them, or none.
   * @param selector null: every version
   * @throws DomainError `not_found`; `conflict` that names what needs a version, or with too many versions
   */
  deleteTagged(by: Principal, slug: string, selector: VersionSelector | null): void {
    const { project_id, user_id } = by;
    this.#audit.together(() => {
      const versions = selector === null ? this.#all(project_id, slug) : [this.find(project_id, slug, selector)];
      for (const found of versions) {
        for (const tag of this.tagsOf(found).filter((name) => name !== LATEST)) {
          this.#store.removeTag(project_id, slug, tag, Date.now() * 1000, user_id);
          this.#announceMove(by, slug, tag, null);
          this.#tell('tagRemoved', by, found, [{ field: 'tag', from: tag }]);
        }
        this.deleteVersion(by, slug, found.version);
      }
    });
  }

  #all(projectId: string, slug: string): SelectedVersion[] {
    const versions: SelectedVersion[] = [];
    for (const version of this.versions(projectId, slug)) {
      if (versions.length === MAX_DELETED)
        throw new DomainError(
          'conflict',
          `The prompt has more than ${MAX_DELETED} versions: delete some by their numbers first`,
        );
      versions.push({ ...version, content: '', messages: null });
    }
    return versions;
  }

  /** @throws DomainError `not_found`; `conflict` for `latest`, and for a new tag beside too many */
  pin(by: Principal, slug: string, entry: TagEntry): TagEntry {
    this.#audit.together(() => this.#pin(by, slug, entry));
    return entry;
  }

  /** As {@link pin}, of several tags: all of them are moved, or none. */
  pinAll(by: Principal, { slug, version }: SelectedVersion, tags: readonly string[]): void {
    if (tags.length === 0) return;
    this.#audit.together(() => {
      for (const tag of tags) this.#pin(by, slug, { tag, version });
    });
  }

  /** As {@link ensure}, and {@link pinAll} of the version: if a tag cannot be moved, no version is made. */
  ensureTagged(by: Principal, slug: string, body: unknown, tags: readonly string[]): SelectedVersion {
    if (tags.length === 0) return this.ensure(by, slug, body);
    return this.#audit.together(() => {
      const ensured = this.ensure(by, slug, body);
      for (const tag of tags) this.#pin(by, slug, { tag, version: ensured.version });
      return ensured;
    });
  }

  /** To be called in the transaction of the move. @param version null: the tag was removed */
  #announceMove({ project_id, user_id }: Principal, slug: string, tag: string, version: number | null): void {
    const where = version === null ? 'was removed' : `points to version ${version}`;
    this.#announce({
      ...{ project_id, type: 'prompt.tag_moved', summary: `The tag ${tag} of the prompt ${slug} ${where}` },
      data: { prompt_slug: slug, tag, version, moved_by: user_id },
    });
  }

  #pin(by: Principal, slug: string, entry: TagEntry): void {
    const { project_id, user_id } = by;
    this.#requirePrompt(project_id, slug);
    if (entry.tag === LATEST)
      throw new DomainError('conflict', 'The tag latest always follows the newest version; it cannot be pinned');
    if (!this.#store.takesTag(project_id, slug, entry.tag))
      throw new DomainError(
        'conflict',
        `A prompt can have at most ${MAX_TAGS} tags, including removed ones, whose history is kept: move an existing tag`,
      );
    const pinned = this.#store.pin(project_id, slug, entry, Date.now() * 1000, user_id);
    this.#fetched.clear();
    if (!pinned) throw new DomainError('not_found', missing({ by: 'number', version: entry.version }));
    const version = this.find(project_id, slug, { by: 'number', version: entry.version });
    this.#tell('tagMoved', by, version, [{ field: 'tag', to: entry.tag }]);
    this.#announceMove(by, slug, entry.tag, entry.version);
  }

  /** Removes a tag, but for its history. @throws DomainError `not_found`; `conflict` for `latest` */
  removeTag(by: Principal, slug: string, tag: string): void {
    const { project_id, user_id } = by;
    this.#requirePrompt(project_id, slug);
    if (tag === LATEST)
      throw new DomainError('conflict', 'The tag latest always follows the newest version; it cannot be removed');
    const pointedAt = this.#store.findVersion(project_id, slug, { by: 'tag', tag });
    this.#audit.together(() => {
      if (!this.#store.removeTag(project_id, slug, tag, Date.now() * 1000, user_id) || pointedAt === undefined)
        throw new DomainError('not_found', missing({ by: 'tag', tag }));
      this.#tell('tagRemoved', by, pointedAt, [{ field: 'tag', from: tag }]);
      this.#announceMove(by, slug, tag, null);
    });
    this.#fetched.clear();
  }

  /** Tags and the versions they point at; `latest` comes first. @throws DomainError `not_found` */
  listTags(projectId: string, slug: string): TagEntry[] {
    const { version } = this.find(projectId, slug, { by: 'tag', tag: LATEST });
    return [{ tag: LATEST, version }, ...this.#store.listTags(projectId, slug)];
  }

  /** The tags that point at a version; `latest` comes first. */
  tagsOf({ prompt_id, version, latest_version }: SelectedVersion): string[] {
    const pinned = this.#store.tagsOf(prompt_id).filter((entry) => entry.version === version);
    return [...(version === latest_version ? [LATEST] : []), ...pinned.map(({ tag }) => tag)];
  }

  /** Moves of a tag and its removals, newest first. @throws DomainError `not_found` when it was never pinned */
  tagHistory(projectId: string, slug: string, tag: string, window: Window): TagMove[] {
    this.#requirePrompt(projectId, slug);
    const read = (part: Window) => this.#store.tagHistory(projectId, slug, tag, part);
    const moves = read(window);
    if (moves.length === 0 && read({ limit: 1, offset: 0 }).length === 0)
      throw new DomainError('not_found', missing({ by: 'tag', tag }));
    return moves;
  }

  /**
   * Every version that there is now, ascending, one after another: together their contents may be larger than memory. Those that are
   * deleted meanwhile are left out.
   * @throws DomainError `not_found` at once
   */
  versions(projectId: string, slug: string): Iterable<SelectedVersion> {
    const { version: latest, prompt_id } = this.find(projectId, slug, { by: 'tag', tag: LATEST });
    const store = this.#store;
    return (function* () {
      for (let last = 0; last < latest;) {
        const found = store.versionAfter(projectId, slug, last);
        // Another prompt may have got the slug; and numbers that are too high to be exact may not rise: that would never end.
        if (found?.prompt_id !== prompt_id || !(found.version > last)) return;
        yield { ...found, latest_version: latest, tag: null };
        last = found.version;
      }
    })();
  }

  /** Others get their turns between the tags of many prompts. @param q text that slugs contain, whatever its case */
  async list(projectId: string, window: Window, q = ''): Promise<PromptSummary[]> {
    const listed: PromptSummary[] = [];
    let began = performance.now();
    for (const prompt of this.#store.listPrompts(projectId, window, q)) {
      const tags = [{ tag: LATEST, version: prompt.latest_version }, ...this.#store.tagsOf(prompt.id)];
      listed.push({ ...prompt, tags });
      if (performance.now() - began < TURN_MS) continue;
      await nextTurn();
      began = performance.now();
    }
    return listed;
  }

  /** How many prompts there are of that list. */
  count(projectId: string, q = ''): number {
    return this.#store.countPrompts(projectId, q);
  }

  #requirePrompt(projectId: string, slug: string): void {
    if (!this.#store.hasPrompt(projectId, slug))
      throw new DomainError('not_found', 'There is no prompt with this slug');
  }

  #forgetWhenChanged(): void {
    const change = this.#store.changeCounter();
    if (change === this.#seenChange) return;
    this.#fetched.clear();
    this.#seenChange = change;
  }
}

function cacheKeyOf(selector: VersionSelector): string {
  switch (selector.by) {
    case 'number':
      return `v${selector.version}`;
    case 'hash':
      return `h${selector.hash}`;
    case 'tag':
      return `t${selector.tag}`;
  }
}

function missing(selector: VersionSelector): string {
  switch (selector.by) {
    case 'number':
      return `The prompt has no version ${selector.version}`;
    case 'hash':
      return 'The prompt has no version with this content hash';
    case 'tag':
      return `The prompt has no tag ${selector.tag}`;
  }
}
