import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../engine/timestamp.js';
import { FairSemaphore, type TurnLimits } from '../../engine/work/fair-semaphore.js';
import type { AttachmentStore, StoredContent } from './attachment-store.js';
import type { AttachmentCatalog, OpenReference, ReferencedImage } from './catalog.js';
import type { ImageReference, FindReferenceVersions } from '../../engine/traces/model/attachments.js';
import type { KeptImage } from './extraction.js';
import type { Media } from './media.js';
import type { Signals } from '../../engine/signals/signals.js';

export interface VaultParts {
  readonly store: AttachmentStore;
  readonly catalog: AttachmentCatalog;
  readonly observer: Pick<Signals, 'attachmentStored' | 'attachmentsRemoved' | 'attachmentSweepFailed'>;
  /** Called when images are free that only a sweep will remove. */
  readonly onFree?: () => void;
  /** Limits of images written at once, over all requests. Default: {@link WRITES}. */
  readonly writes?: TurnLimits;
}

/** No project ever has all turns: a bucket may take as long as half a minute to refuse an image. */
const WRITES: TurnLimits = { atOnce: 20, perParty: 16, maxWaitMs: 10_000 };
const REMOVALS_AT_ONCE = 8;
/** Images, or references, that are looked at together. */
const BATCH = 200;
/** References whose versions are written in one transaction: a few milliseconds, so that nobody waits. */
const BOUND_AT_ONCE = 500;
/** How long an announced image waits for the span that refers to it. */
export const AWAITED_MS = 24 * 60 * 60_000;
/** Images that a deletion removes itself: a few seconds of work. */
export const REMOVED_WITH_SPANS = 500;

/**
 * Keeps each image once per project, as long as a span version refers to it, and removes it afterwards.
 *
 * The rule: a reference is written to the catalog before the image is stored, the image is stored before its span is
 * committed, and only then is the request acknowledged. An image is removed only when no reference is left, and a reference
 * ends only when its span version has been deleted or purged, or when its request is over and no span that counts now
 * refers to the image, or with its project: then what is stored nevertheless is free at once. An image that is sent apart from
 * its span is announced before: that reference waits for the span, and for the image, for {@link AWAITED_MS}. Storing and removing the same
 * image exclude each other. So a crash at any point leaves at worst a reference or an image too many, and the next sweep
 * removes those.
 */
export class AttachmentVault {
  readonly #parts: VaultParts;
  readonly #writes: FairSemaphore;
  readonly #locks = new Map<string, Promise<unknown>>();
  /** Ids of the references of requests under way. */
  readonly #inWork = new Set<number>();

  constructor(parts: VaultParts) {
    this.#parts = parts;
    this.#writes = new FairSemaphore('images written', parts.writes ?? WRITES);
  }

  find(projectId: string, sha256: string): KeptImage | undefined {
    return this.#parts.catalog.find(projectId, sha256);
  }

  /** A stored image by its id in references. */
  findMedia(projectId: string, mediaId: string): KeptImage | undefined {
    return this.#parts.catalog.findMedia(projectId, mediaId);
  }

  /** Whether rows of a dataset keep a file that was sent for them. */
  isOfDataset(projectId: string, sha256: string, datasetId: string): boolean {
    return this.#parts.catalog.isOfDataset({ project_id: projectId, sha256 }, datasetId);
  }

  async open(projectId: string, sha256: string): Promise<StoredContent | null> {
    const content = await this.#parts.store.get(projectId, sha256);
    if (content === null) this.#parts.catalog.markMissing(projectId, sha256);
    return content;
  }

  /** Protects images from removal until {@link settle} is called with these ids. */
  name(projectId: string, references: readonly (ImageReference & { readonly image: KeptImage })[]): number[] {
    if (references.length === 0) return [];
    const ids = this.#parts.catalog.name(projectId, references);
    for (const id of ids) this.#inWork.add(id);
    return ids;
  }

  /**
   * Stores images whose references were noted before. Each is durable once this resolves. None is being written any more
   * when it rejects.
   * @throws DomainError `overloaded` when it does not become the project's turn in time; `unavailable`
   */
  async keep(projectId: string, images: readonly Media[]): Promise<void> {
    if (images.length === 0) return;
    const distinct = [...new Map(images.map((image) => [image.sha256, image])).values()];
    const giveUp = new AbortController();
    const stored: string[] = [];
    const results = await Promise.allSettled(
      distinct.map(async (image) => {
        try {
          await this.#writes.run(projectId, () => this.#put(projectId, image), giveUp.signal);
          stored.push(image.sha256);
        } catch (error) {
          giveUp.abort(error);
          throw error;
        }
      }),
    );
    if (this.#parts.catalog.markStored(projectId, stored)) this.#parts.onFree?.();
    const failure = results.find((result) => result.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
  }

  /**
   * Ends a request's hold on its references. Never rejects: what cannot be written now is found out by the next sweep.
   * @param bindings the versions of what was stored; empty when nothing was: the next sweep looks what became of it
   */
  async settle(
    ids: readonly number[],
    bindings: readonly { readonly id: number; readonly version: Micros }[],
  ): Promise<void> {
    try {
      for (let from = 0; from < bindings.length; from += BOUND_AT_ONCE) {
        if (from > 0) await nextTurn();
        this.#parts.catalog.bind(bindings.slice(from, from + BOUND_AT_ONCE));
      }
    } catch (error) {
      this.#parts.observer.attachmentSweepFailed({ error });
    }
    for (const id of ids) this.#inWork.delete(id);
  }

  /** Ends a hold on references that are of no span: whatever else names their images keeps them from now on. */
  release(ids: readonly number[]): void {
    try {
      this.#parts.catalog.drop(ids);
    } catch (error) {
      // The next sweep finds that they are of no span.
      this.#parts.observer.attachmentSweepFailed({ error });
    }
    for (const id of ids) this.#inWork.delete(id);
  }

  /** Forgets the references of purged span versions. @returns whether an image may have become free */
  forget(versions: readonly Micros[]): boolean {
    return this.#parts.catalog.forget(versions) > 0;
  }

  /** Forgets the references of spans deleted up to a moment. @returns images that may be free, see `removeSomeFree` */
  forgetSpans(
    projectId: string,
    spanIds: readonly string[],
    upTo: Micros,
    orderedAt: Micros = upTo,
  ): ReadonlySet<string> {
    return this.#parts.catalog.forgetSpans(projectId, spanIds, upTo, orderedAt);
  }

  /** Forgets a portion of the references of a deleted project. @returns whether there is more */
  forgetSomeOfProject(projectId: string): boolean {
    return this.#parts.catalog.forgetSomeOfProject(projectId) > 0;
  }

  /**
   * Removes images of a project that have lost their last reference: these first, and {@link REMOVED_WITH_SPANS} at most. The
   * next sweep removes the rest. @throws the first failure
   */
  async removeSomeFree(projectId: string, first: ReadonlySet<string>): Promise<void> {
    const images = [...first].map((sha256) => ({ project_id: projectId, sha256 }));
    for (const image of this.#free(projectId)) {
      if (images.length >= REMOVED_WITH_SPANS) break;
      if (!first.has(image.sha256)) images.push(image);
    }
    if (images.length >= REMOVED_WITH_SPANS) this.#parts.onFree?.();
    await this.#removeAll(images.slice(0, REMOVED_WITH_SPANS).values());
  }

  /** Removes all images of a project that have lost their last reference. @throws the first failure */
  async removeFreeOfProject(projectId: string, signal: AbortSignal): Promise<void> {
    await this.#removeAll(this.#free(projectId), { signal });
  }

  /** Removes those of some images that nothing refers to, known or not. @throws the first failure */
  async removeUnreferenced(images: readonly ReferencedImage[]): Promise<void> {
    this.#parts.catalog.doubt(images);
    await this.#removeAll(images.values(), { pastFailures: true });
  }

  /**
   * Removes images that no span refers to any more. One that cannot be removed does not stop the rest.
   * @param signal ends it early
   * @throws the first failure
   */
  async sweep(findVersions: FindReferenceVersions, signal?: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (const part of [
      () => this.#resolveUnbound(findVersions, signal),
      () => this.#removeAll(this.#free(), { pastFailures: true, ...(signal && { signal }) }),
    ])
      await part().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }

  async #put(projectId: string, image: Media): Promise<void> {
    const { store, catalog, observer } = this.#parts;
    await this.#exclusively(projectId, image.sha256, async () => {
      if (catalog.find(projectId, image.sha256) !== undefined) return;
      await store.put(projectId, image.sha256, image.bytes, image.type);
      observer.attachmentStored({ bytes: image.bytes.length });
    });
  }

  async #remove(image: ReferencedImage): Promise<boolean> {
    const { store, catalog } = this.#parts;
    return this.#exclusively(image.project_id, image.sha256, async () => {
      if (!catalog.beginRemoval(image)) return false;
      await store.remove(image.project_id, image.sha256);
      catalog.endRemoval(image);
      return true;
    });
  }

  /** Images that have lost a reference, of a project or of all. */
  *#free(projectId?: string): Generator<ReferencedImage> {
    for (let after: ReferencedImage | undefined = { project_id: projectId ?? '', sha256: '' }; after !== undefined;) {
      const batch = this.#parts.catalog.leftovers(after, BATCH);
      for (const image of batch) {
        if (projectId !== undefined && image.project_id !== projectId) return;
        yield image;
      }
      after = batch.at(-1);
    }
  }

  /** Removes images. @throws the first failure; unless `pastFailures`, no removal begins after it */
  async #removeAll(
    images: IterableIterator<ReferencedImage>,
    { pastFailures = false, signal }: { readonly pastFailures?: boolean; readonly signal?: AbortSignal } = {},
  ): Promise<void> {
    let count = 0;
    const failures: unknown[] = [];
    const work = async () => {
      for (const image of images) {
        if (signal?.aborted === true || (failures.length > 0 && !pastFailures)) return;
        try {
          if (await this.#remove(image)) count += 1;
        } catch (error) {
          if (failures.length === 0) failures.push(error);
        }
      }
    };
    // All workers take images from one iterator.
    await Promise.all(Array.from({ length: REMOVALS_AT_ONCE }, work));
    if (count > 0) this.#parts.observer.attachmentsRemoved({ count });
    if (failures.length > 0) throw failures[0];
  }

  /** Finds span versions for unbound references. @throws the first failure, when all others are resolved */
  async #resolveUnbound(findVersions: FindReferenceVersions, signal?: AbortSignal): Promise<void> {
    const { catalog } = this.#parts;
    /** Projects that cannot be read now, such as busy ones: theirs wait for the next sweep, and nobody else's. */
    const failed = new Map<string, unknown>();
    for (let after = 0; signal?.aborted !== true;) {
      const batch = catalog.unbound(after, BATCH);
      const last = batch.at(-1);
      if (last === undefined) break;
      after = last.id;
      const open = batch.filter(({ id, project_id }) => !this.#inWork.has(id) && !failed.has(project_id));
      for (const projectId of new Set(open.map(({ project_id }) => project_id))) {
        const references = open.filter(({ project_id }) => project_id === projectId);
        try {
          const [here, late] = partition(references, (each) => !this.#isLate(each));
          // A version that is bound may be purged before its image comes: until then, none is.
          const versions = here.length === 0 ? new Map<number, Micros>() : await findVersions(projectId, here);
          catalog.bind([...versions].map(([id, version]) => ({ id, version })));
          const left = [...here.filter(({ id }) => !versions.has(id)), ...late];
          // One may be announced again meanwhile.
          catalog.dropAsRead(left.filter((each) => !isAwaited(each)));
        } catch (error) {
          failed.set(projectId, error);
        }
      }
      await nextTurn();
    }
    const [failure] = failed.values();
    if (failed.size > 0) throw failure;
  }

  /** Whether an image that was announced has not come yet. */
  #isLate({ announced_at, project_id, sha256 }: OpenReference): boolean {
    return announced_at !== null && this.#parts.catalog.find(project_id, sha256) === undefined;
  }

  async #exclusively<T>(projectId: string, sha256: string, work: () => Promise<T>): Promise<T> {
    const key = `${projectId}/${sha256}`;
    const before = this.#locks.get(key) ?? Promise.resolve();
    const done = before.then(work, work);
    this.#locks.set(key, done);
    try {
      return await done;
    } finally {
      if (this.#locks.get(key) === done) this.#locks.delete(key);
    }
  }
}

function partition<T>(all: readonly T[], isFirst: (each: T) => boolean): [T[], T[]] {
  const [first, second]: [T[], T[]] = [[], []];
  for (const each of all) (isFirst(each) ? first : second).push(each);
  return [first, second];
}

/** Whether a reference still waits for a span that has not come. */
function isAwaited({ announced_at }: OpenReference): boolean {
  return announced_at !== null && announced_at / 1000 > Date.now() - AWAITED_MS;
}
