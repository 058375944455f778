import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import type { Actor, AuditLog } from '../../engine/identity/audit.js';
import type { AuditEvent } from '../../engine/signals/catalog/audit.js';
import { DeletionRuns, type DeletionRun, type DeletionRunsParts } from './deletion-runs.js';
import { DeletionWork, type DeletionParts } from './deletion-work.js';
import type { Deletion, DeletionTarget } from './deletion-store.js';
import { inParts } from './noted-parts.js';
import type { Below, DeletableKind } from '../../engine/traces/model/deletion/stored-spans.js';
import type { WorkUnderWay } from '../../engine/work/work-under-way.js';

export interface DeletionServiceParts
  extends Omit<DeletionParts, 'work'>, Pick<DeletionRunsParts, 'observer' | 'onProjectOrdered'> {
  readonly audit: AuditLog;
  /** How long an answer, or a start, waits for what is hidden already. */
  readonly hiddenWaitMs?: number;
}

/** What a caller wants gone. */
export interface WantedDeletion {
  readonly kind: DeletableKind;
  readonly id: string;
  readonly by: Actor;
}

/** A row of a dataset that a caller wants gone. */
export interface ErasedRow {
  readonly datasetId: string;
  readonly rowId: string;
  readonly by: Actor;
}

const ORDERED = {
  span: 'spanDeleted',
  trace: 'traceDeleted',
  session: 'sessionDeleted',
} as const satisfies Readonly<Record<DeletableKind, AuditEvent>>;

/** Interval of looks for deletions that other processes ordered. */
const LOOK_MS = 500;
/** What no one is shown any more are words and images: they may wait for ClickHouse to rewrite the words of all projects. */
const HIDDEN_WAIT_MS = 10_000;

/** How long a write of something older waits for deletions in progress. */
const SETTLED_MS = 30_000;
const RETRY_AFTER_SECONDS = 5;

/** A job that selects what is deleted. @property whole whether these are traces, and all that is in them */
interface SelectedBy {
  readonly id: string;
  readonly whole: boolean;
}

const selectedTarget = (projectId: string, { id, whole }: SelectedBy): DeletionTarget => ({
  ...{ projectId, id },
  kind: whole ? 'traces' : 'selected',
});

/**
 * Deletes spans, traces, sessions and projects with everything that belongs to them, in both stores and in memory. A
 * deletion is written down before anything is deleted, and forgotten when all is: what fails or is interrupted is done again
 * until it is done, if need be by the next start.
 */
export class DeletionService {
  readonly #parts: DeletionServiceParts;
  readonly #underWay: WorkUnderWay[] = [];
  readonly #runs: DeletionRuns;
  readonly #stopping = new AbortController();
  readonly #hiddenWaitMs: number;
  #timer: NodeJS.Timeout | null = null;
  #seenChange = -1;

  constructor(parts: DeletionServiceParts) {
    this.#parts = parts;
    this.#hiddenWaitMs = parts.hiddenWaitMs ?? HIDDEN_WAIT_MS;
    const work = new DeletionWork({ ...parts, work: this.#underWay }, this.#stopping.signal);
    this.#runs = new DeletionRuns({ ...parts, work, stopping: this.#stopping.signal });
  }

  /**
   * Continues with deletions ordered before the start, as {@link delete} does. One that cannot be completed yet is tried again later.
   */
  async resume(): Promise<void> {
    const { store, observer } = this.#parts;
    try {
      store.abandon();
    } catch (error) {
      // Nothing was ordered by them: they are in no one's way, and the next start tries again.
      observer.deletionFailed({ project: 'any', error });
    }
    const runs: DeletionRun[] = [];
    for (const deletion of store.pending()) {
      const run = this.#runs.run(deletion);
      // No one can access a project that is to go; removing it may take minutes.
      if (deletion.what === 'project') continue;
      await run.gone.catch(() => undefined);
      runs.push(run);
    }
    await within(this.#hiddenWaitMs, Promise.allSettled(runs.map(({ done }) => done)));
  }

  /** Starts to follow deletions ordered by other processes. @param work what may hold texts of spans in memory */
  start(work: readonly WorkUnderWay[]): void {
    this.#underWay.push(...work);
    this.#timer = setInterval(() => this.#look(), LOOK_MS).unref();
  }

  /** Stops soon; deletions that are not done are completed by the next start. */
  async close(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#stopping.abort(new DomainError('unavailable', 'The server is stopping; the next start resumes the deletion'));
    await this.#runs.close();
  }

  /**
   * Resolves when everything is gone, or is shown to no one and goes before long: whether there was such a thing.
   * @throws DomainError `unavailable`, `overloaded`; it may be completed anyway
   */
  async delete(projectId: string, { kind, id, by }: WantedDeletion): Promise<boolean> {
    const target: DeletionTarget = { projectId, kind, id };
    // An earlier deletion of the same thing that failed ends before the answer: it must not delete what comes afterwards.
    const earlier = this.#parts.store.pending(target);
    for (const deletion of earlier) await this.#runs.run(deletion).gone;
    const below = await this.#parts.spans.below(projectId, kind, id);
    if (below === null && !(kind === 'span' && this.#parts.store.knows(projectId, id))) return earlier.length > 0;
    // With the order, as it is completed from there on, whatever this caller is answered.
    const tell = () => this.#parts.audit.done({ event: ORDERED[kind], by, project_id: projectId, subject_id: id });
    const deletion = below === null ? this.#orphan(target, tell) : await this.#order(target, below, tell);
    if (deletion === null) return true;
    await this.#hidden(deletion);
    return true;
  }

  /**
   * Erases a row of a dataset from all its versions, with the results of experiments that were made of it. Resolves as
   * {@link delete} does: whether there was such a row.
   * @throws as {@link delete}
   */
  async eraseRow(projectId: string, { datasetId, rowId, by }: ErasedRow): Promise<boolean> {
    const { store, audit } = this.#parts;
    const earlier = store.pending({ projectId, kind: 'row', id: `${datasetId}/${rowId}` });
    for (const deletion of earlier) await this.#runs.run(deletion).gone;
    const deletion = audit.together(() => {
      const ordered = store.orderRow({ projectId, datasetId, rowId, at: Date.now() * 1000 });
      if (ordered !== null) audit.done({ event: 'datasetRowErased', by, project_id: projectId, subject_id: datasetId });
      return ordered;
    });
    if (deletion === null) return earlier.length > 0;
    await this.#hidden(deletion);
    return true;
  }

  async #hidden(deletion: Deletion): Promise<void> {
    const { gone, done } = this.#runs.run(deletion);
    await gone;
    await within(this.#hiddenWaitMs, done);
  }

  /**
   * Deletes what retention found. Resolves when everything is gone.
   * @throws as {@link delete}
   */
  async expire(projectId: string, below: Below): Promise<void> {
    await this.#removeBelow({ projectId, kind: 'retention', id: '' }, below);
  }

  /**
   * Deletes spans of the results of an experiment. Resolves when they are gone.
   * @returns false: there were none
   * @throws as {@link delete}
   */
  removeSpans(projectId: string, experimentId: string, below: Below): Promise<boolean> {
    return this.#removeBelow({ projectId, kind: 'experiment', id: experimentId }, below);
  }

  /**
   * Deletes a portion of what a job selected. Resolves when it is gone.
   * @throws as {@link delete}
   */
  async removeSelected(projectId: string, job: SelectedBy, below: Below) {
    await this.#removeBelow(selectedTarget(projectId, job), below);
  }

  /** Resolves when what was ordered of a job before is gone. @throws as {@link delete} */
  finishSelected(projectId: string, job: SelectedBy): Promise<void> {
    return this.#finish(selectedTarget(projectId, job));
  }

  async #finish(target: DeletionTarget): Promise<void> {
    for (const deletion of this.#parts.store.pending(target)) await this.#runs.run(deletion).done;
  }

  async #removeBelow(target: DeletionTarget, below: Below): Promise<boolean> {
    await this.#finish(target);
    const deletion = await this.#order(target, below);
    if (deletion !== null) await this.#runs.run(deletion).done;
    return deletion !== null;
  }

  /**
   * Resolves when nothing is left to do of what was ordered to go of a project: whatever is written from then on stays, however old
   * it is.
   * @throws DomainError `unavailable`, also when that takes too long
   */
  async settled(projectId: string): Promise<void> {
    const pending = this.#parts.store
      .pending()
      .filter(({ what, project_id }) => what !== 'project' && project_id === projectId);
    const done = Promise.all(pending.map((deletion) => this.#runs.run(deletion).done));
    if (!(await within(SETTLED_MS, done)))
      throw new DomainError('unavailable', 'A deletion is in progress for this project. Retry later.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
  }

  /**
   * Orders the deletion of a project: its keys and links end at once, the rest goes in the background.
   * @returns false when there is no such project
   */
  deleteProject(projectId: string, by: Actor): boolean {
    const { store, audit } = this.#parts;
    const deletion = audit.together(() => {
      const ordered = store.orderProject(projectId, Date.now() * 1000);
      if (ordered !== null) audit.done({ event: 'projectDeleted', by, project_id: projectId });
      return ordered;
    });
    if (deletion === null) return false;
    this.#runs.run(deletion);
    return true;
  }

  /** Orders the deletion of feedback and evaluations of a span that never came, or is gone. */
  #orphan(target: DeletionTarget, tell: () => void): Deletion {
    const at = Date.now() * 1000;
    const span = { kind: 'span', trace_id: '', id: target.id, started_at: 0 } as const;
    return this.#ordered(() => this.#parts.store.begin({ ...target, upTo: at, at }, [span], true), tell);
  }

  /** What orders a deletion, with what tells of it. */
  #ordered<T>(order: () => T, tell: () => void): T {
    return this.#parts.audit.together(() => {
      const ordered = order();
      tell();
      return ordered;
    });
  }

  /** @param tell tells of the order @returns null when there is nothing to delete */
  async #order(
    target: DeletionTarget,
    { upTo, things }: Below,
    tell = (): void => undefined,
  ): Promise<Deletion | null> {
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
    const [begun, rest] = [deletion, held];
    return this.#ordered(() => {
      if (begun === undefined) return store.begin(draft(), rest, true);
      store.note(begun.seq, rest);
      store.order(begun.seq);
      return begun;
    }, tell);
  }

  /** Forgets a deletion that is not ordered after all; where that fails, the next start does. */
  async #forget({ seq }: Deletion): Promise<void> {
    try {
      while (this.#parts.store.finish(seq)) await nextTurn();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
    }
  }

  /** Begins deletions of projects that `npm run admin` ordered. */
  #look(): void {
    const { store, observer } = this.#parts;
    try {
      const change = store.changeCounter();
      if (change === this.#seenChange) return;
      for (const deletion of store.pending())
        if (deletion.what === 'project' && !this.#runs.has(deletion)) this.#runs.run(deletion);
      this.#seenChange = change;
    } catch (error) {
      observer.deletionFailed({ project: 'any', error });
    }
  }
}

/** Whether something ends within a time. @throws what it throws within that time */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  const waiting = new AbortController();
  try {
    const late = sleep(ms, false, { signal: waiting.signal, ref: false }).catch(() => false);
    return await Promise.race([work.then(() => true), late]);
  } finally {
    waiting.abort();
  }
}
