import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../errors.js';
import { DeletionWork, type DeletionParts } from './deletion-work.js';
import type { DeletedThing, Deletion, DeletionTarget } from './deletion-store.js';
import type { Below, DeletableKind } from './stored-spans.js';
import type { WorkUnderWay } from '../job/work-under-way.js';

export interface DeletionObserver {
  deletionFinished(deletion: {
    readonly what: Deletion['what'];
    readonly spans: number;
    readonly seconds: number;
  }): void;
  /** A deletion failed; it is tried again, also after a restart. */
  deletionFailed(failure: { readonly project: string; readonly error: unknown }): void;
}

export interface DeletionServiceParts extends Omit<DeletionParts, 'work'> {
  readonly observer: DeletionObserver;
  /** Called once a project is ordered to go: nobody may get at it from then on. */
  readonly onProjectOrdered: (projectId: string) => void;
}

/** Interval of looks for deletions that other processes ordered. */
const LOOK_MS = 500;
const RETRY_MS = 1_000;
/** Things that are noted in one transaction. */
const NOTED_AT_ONCE = 2_000;
const MAX_RETRY_MS = 30_000;

/**
 * Deletes spans, traces, sessions and projects with everything that belongs to them, in both stores and in memory. A
 * deletion is written down before anything is deleted, and forgotten when all is: what fails or is cut off is done again
 * until it is done, if need be by the next start.
 */
export class DeletionService {
  readonly #parts: DeletionServiceParts;
  readonly #work: DeletionWork;
  readonly #underWay: WorkUnderWay[] = [];
  /** Runs under way, by the deletion's number. */
  readonly #running = new Map<number, Promise<void>>();
  /** Timers of retries, by the deletion's number. */
  readonly #retries = new Map<number, NodeJS.Timeout>();
  readonly #stopping = new AbortController();
  #timer: NodeJS.Timeout | null = null;
  #seenChange = -1;

  constructor(parts: DeletionServiceParts) {
    this.#parts = parts;
    this.#work = new DeletionWork({ ...parts, work: this.#underWay }, this.#stopping.signal);
  }

  /** Completes deletions ordered before the start. One that cannot be completed yet is tried again later. */
  async resume(): Promise<void> {
    const { store, observer } = this.#parts;
    store.abandon();
    for (const deletion of store.pending()) {
      // Nobody can get at a project that is to go; removing it may take minutes.
      if (deletion.what === 'project') {
        this.#begin(deletion);
        continue;
      }
      try {
        await this.#run(deletion);
      } catch (error) {
        observer.deletionFailed({ project: deletion.project_id, error });
        this.#retry(deletion, RETRY_MS);
      }
    }
  }

  /** Starts to follow deletions ordered by other processes. @param work what may hold texts of spans in memory */
  start(work: readonly WorkUnderWay[]): void {
    this.#underWay.push(...work);
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Stops soon; deletions that are not done are completed by the next start. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    for (const retry of this.#retries.values()) clearTimeout(retry);
    this.#stopping.abort(new DomainError('unavailable', 'The server stops; the next start goes on with the deletion'));
    await Promise.allSettled(this.#running.values());
  }

  /**
   * Resolves when everything is gone: whether there was such a thing.
   * @throws DomainError `unavailable`, `overloaded`; it may be completed all the same
   */
  async delete(projectId: string, kind: DeletableKind, id: string): Promise<boolean> {
    const target: DeletionTarget = { projectId, kind, id };
    // An earlier deletion of the same thing that failed ends before the answer: it must not delete what comes afterwards.
    const earlier = this.#parts.store.pending(target);
    for (const deletion of earlier) await this.#run(deletion);
    const below = await this.#parts.spans.below(projectId, kind, id);
    if (below === null && !(kind === 'span' && this.#parts.store.knows(projectId, id))) return earlier.length > 0;
    await this.#complete(below === null ? this.#orphan(target) : await this.#order(target, below));
    return true;
  }

  /**
   * Deletes what retention found. Resolves when everything is gone.
   * @throws as {@link delete}
   */
  async expire(projectId: string, below: Below): Promise<void> {
    const target: DeletionTarget = { projectId, kind: 'retention', id: '' };
    for (const deletion of this.#parts.store.pending(target)) await this.#run(deletion);
    await this.#complete(await this.#order(target, below));
  }

  /**
   * Orders the deletion of a project: its keys and links end at once, the rest goes in the background.
   * @returns false when there is no such project
   */
  deleteProject(projectId: string): boolean {
    const deletion = this.#parts.store.orderProject(projectId, Date.now() * 1000);
    if (deletion === null) return false;
    this.#begin(deletion);
    return true;
  }

  /** Orders the deletion of feedback and evaluations of a span that never came, or is gone. */
  #orphan(target: DeletionTarget): Deletion {
    const at = Date.now() * 1000;
    const span = { kind: 'span', trace_id: '', id: target.id, started_at: 0 } as const;
    return this.#parts.store.begin({ ...target, upTo: at, at }, [span], true);
  }

  /** @returns null when there is nothing to delete */
  async #order(target: DeletionTarget, { upTo, things }: Below): Promise<Deletion | null> {
    const { store } = this.#parts;
    const draft = () => ({ ...target, upTo, at: Date.now() * 1000 });
    let deletion: Deletion | undefined;
    let held: Parameters<typeof store.note>[1] | undefined;
    try {
      for await (const page of inParts(things)) {
        if (held !== undefined) {
          if (deletion === undefined) deletion = store.begin(draft(), held, false);
          else store.note(deletion.seq, held);
        }
        held = page;
      }
    } catch (error) {
      if (deletion !== undefined) await this.#forget(deletion);
      throw error;
    }
    if (held === undefined) return null;
    if (deletion === undefined) return store.begin(draft(), held, true);
    store.note(deletion.seq, held);
    store.order(deletion.seq);
    return deletion;
  }

  /** Forgets a deletion that is not ordered after all; where that fails, the next start does. */
  async #forget({ seq }: Deletion): Promise<void> {
    try {
      while (this.#parts.store.finish(seq)) await nextTurn();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }

  /** Runs a deletion that was ordered just now; one that fails is tried again. */
  async #complete(deletion: Deletion | null): Promise<void> {
    if (deletion === null) return;
    try {
      await this.#run(deletion);
    } catch (error) {
      this.#parts.observer.deletionFailed({ project: deletion.project_id, error });
      this.#retry(deletion, RETRY_MS);
      throw error;
    }
  }

  /** Runs a deletion, or joins the run of it that is under way. */
  #run(deletion: Deletion): Promise<void> {
    const known = this.#running.get(deletion.seq);
    if (known !== undefined) return known;
    if (deletion.what === 'project') this.#parts.onProjectOrdered(deletion.project_id);
    const started = performance.now();
    const running = this.#work
      .perform(deletion)
      .then((spans) => {
        clearTimeout(this.#retries.get(deletion.seq));
        this.#retries.delete(deletion.seq);
        const seconds = (performance.now() - started) / 1000;
        this.#parts.observer.deletionFinished({ what: deletion.what, spans, seconds });
      })
      .finally(() => this.#running.delete(deletion.seq));
    this.#running.set(deletion.seq, running);
    return running;
  }

  #begin(deletion: Deletion, waitMs = RETRY_MS): void {
    this.#run(deletion).catch((error: unknown) => {
      if (this.#stopping.signal.aborted) return;
      this.#parts.observer.deletionFailed({ project: deletion.project_id, error });
      this.#retry(deletion, waitMs);
    });
  }

  #retry(deletion: Deletion, waitMs: number): void {
    if (this.#stopping.signal.aborted) return;
    const retry = setTimeout(() => {
      this.#retries.delete(deletion.seq);
      this.#begin(deletion, Math.min(MAX_RETRY_MS, waitMs * 2));
    }, waitMs);
    clearTimeout(this.#retries.get(deletion.seq));
    this.#retries.set(deletion.seq, retry.unref());
  }

  /** Begins deletions of projects that `npm run admin` ordered. */
  #look(): void {
    const { store, observer } = this.#parts;
    try {
      const change = store.changeCounter();
      if (change === this.#seenChange) return;
      this.#seenChange = change;
      for (const deletion of store.pending())
        if (deletion.what === 'project' && !this.#running.has(deletion.seq)) this.#begin(deletion);
    } catch (error) {
      observer.deletionFailed({ project: 'any', error });
    }
  }
}

/** So few that noting them takes a few milliseconds; in between, others have their turn. */
async function* inParts(pages: Below['things']): AsyncGenerator<readonly DeletedThing[]> {
  for await (const page of pages)
    for (let from = 0; from < page.length; from += NOTED_AT_ONCE) {
      if (from > 0) await nextTurn();
      yield page.slice(from, from + NOTED_AT_ONCE);
    }
}
