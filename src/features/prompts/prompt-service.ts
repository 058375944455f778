import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import type { AuditLog } from '../../engine/identity/audit.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { NameModel } from '../../engine/models/model-name.js';
import type { Window } from '../../engine/schema/page.js';
import type { Signals } from '../../engine/signals/signals.js';
import { fitting } from '../../engine/validation/fitting.js';
import { compile } from '../../engine/validation/validation.js';
import type { Announce } from '../webhooks/event.js';
import { FetchedVersions } from './fetched-versions.js';
import { noVersion, requirePrompt } from './not-found.js';
import { LATEST, type ModelBinding, type PromptSummary, type SelectedVersion, type VersionSelector } from './prompt.js';
import type { PromptStore } from './prompt-store.js';
import { PromptTags } from './prompt-tags.js';
import { EnsureInput } from './schema.js';
import { auditVersion } from './version-audit.js';
import { checkVersion } from './version-rules.js';
import { needsOf } from './version-uses.js';

export interface PromptServiceOptions {
  readonly store: PromptStore;
  readonly modelName: NameModel;
  readonly observer: Pick<Signals, 'promptFetched'>;
  readonly audit: AuditLog;
  readonly announce: Announce;
}

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
  readonly #fetched: FetchedVersions;

  /** Names that point at versions. */
  readonly tags: PromptTags;

  constructor({ store, modelName, observer, audit, announce }: PromptServiceOptions) {
    this.#store = store;
    this.#modelName = modelName;
    this.#observer = observer;
    this.#audit = audit;
    this.#fetched = new FetchedVersions(store);
    const find = (projectId: string, slug: string, selector: VersionSelector) => this.find(projectId, slug, selector);
    this.tags = new PromptTags({ store, audit, announce, find, changed: () => this.#fetched.clear() });
  }

  /**
   * What clients call at their start: the version from memory, the same object, when nothing was written since. A write
   * by any process counts from the next call on.
   * @throws DomainError `not_found`
   */
  fetch(projectId: string, slug: string, selector: VersionSelector): SelectedVersion {
    const known = this.#fetched.find(projectId, slug, selector);
    if (known !== undefined) {
      this.#observer.promptFetched({ result: 'cached' });
      return known;
    }
    try {
      const version = this.find(projectId, slug, selector);
      this.#fetched.keep(projectId, slug, selector, version);
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
      requirePrompt(this.#store, projectId, slug);
      throw noVersion(selector);
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
        auditVersion(this.#audit, 'promptVersionMade', by, made);
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
    requirePrompt(this.#store, projectId, slug);
    const selector = { by: 'number', version } as const;
    const found = this.#audit.together(() => {
      if (!this.#store.bindModel(projectId, slug, version, modelId, Date.now() * 1000)) throw noVersion(selector);
      const bound = this.find(projectId, slug, selector);
      auditVersion(this.#audit, 'promptVersionChanged', by, bound, [{ field: 'model_id' }]);
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
    requirePrompt(this.#store, projectId, slug);
    this.#audit.together(() => {
      const selector = { by: 'number', version } as const;
      const known = this.#store.findVersion(projectId, slug, selector);
      const removed = this.#store.removeVersion(projectId, slug, version, (uses) => {
        const needs = needsOf(uses);
        if (needs.length > 0)
          throw new DomainError('conflict', `Version ${version} cannot be deleted: ${needs.join('; ')}`);
      });
      if (!removed || known === undefined) throw noVersion(selector);
      auditVersion(this.#audit, 'promptVersionDeleted', by, known);
    });
    this.#fetched.clear();
  }

  /**
   * Deletes a version with the tags that point at it, or every version: all of them, or none.
   * @param selector null: every version
   * @throws DomainError `not_found`; `conflict` that names what needs a version, or with too many versions
   */
  deleteTagged(by: Principal, slug: string, selector: VersionSelector | null): void {
    const { project_id } = by;
    this.#audit.together(() => {
      const versions = selector === null ? this.#all(project_id, slug) : [this.find(project_id, slug, selector)];
      for (const found of versions) {
        for (const tag of this.tags.of(found).filter((name) => name !== LATEST)) this.tags.remove(by, slug, tag);
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

  /** As {@link ensure}, and has tags point at the version: if one cannot be moved, no version is made. */
  ensureTagged(by: Principal, slug: string, body: unknown, tags: readonly string[]): SelectedVersion {
    if (tags.length === 0) return this.ensure(by, slug, body);
    return this.#audit.together(() => {
      const ensured = this.ensure(by, slug, body);
      this.tags.pinAll(by, ensured, tags);
      return ensured;
    });
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
}
