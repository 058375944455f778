import type { Signals } from '../../engine/signals/signals.js';
import { RETRIES, retryDelay } from '../../engine/work/backoff.js';
import type { Deletion, DeletionStore } from './deletion-store.js';
import type { DeletionWork } from './deletion-work.js';

export interface DeletionRunsParts {
  readonly store: Pick<DeletionStore, 'pending'>;
  readonly work: Pick<DeletionWork, 'perform'>;
  readonly observer: Pick<Signals, 'deletionFinished' | 'deletionFailed'>;
  /** Called once a project is ordered to go: no one may read or write it from then on. */
  readonly onProjectOrdered: (projectId: string) => void;
  readonly stopping: AbortSignal;
}

/** A deletion that is being performed. A failure is logged, and the deletion is tried again. */
export interface DeletionRun {
  /** No read shows anything of it. */
  readonly gone: Promise<void>;
  /** Nothing of it is stored. */
  readonly done: Promise<void>;
}

/** Runs deletions until they are done, each once at a time. */
export class DeletionRuns {
  readonly #parts: DeletionRunsParts;
  /** Runs in progress, by the deletion's number. */
  readonly #running = new Map<number, DeletionRun>();
  /** Timers of retries, by the deletion's number. */
  readonly #retries = new Map<number, NodeJS.Timeout>();

  constructor(parts: DeletionRunsParts) {
    this.#parts = parts;
  }

  /** Whether a deletion is being performed. */
  has({ seq }: Deletion): boolean {
    return this.#running.has(seq);
  }

  /** Runs a deletion, or joins the run of it that is in progress. @param attempts made with this one */
  run(deletion: Deletion, attempts = 1): DeletionRun {
    const known = this.#running.get(deletion.seq);
    if (known !== undefined) return known;
    if (deletion.what === 'project') this.#parts.onProjectOrdered(deletion.project_id);
    let done: Promise<void> = Promise.resolve();
    const gone = new Promise<void>((resolve, reject) => {
      done = this.#perform(deletion, attempts, resolve).finally(() => this.#running.delete(deletion.seq));
      done.then(resolve, reject);
    });
    // A failure was logged; those who wait for the run learn it as well.
    gone.catch(() => undefined);
    const run = { gone, done };
    this.#running.set(deletion.seq, run);
    return run;
  }

  async #perform(deletion: Deletion, attempts: number, onHidden: () => void): Promise<void> {
    const { observer } = this.#parts;
    const started = performance.now();
    try {
      // One that failed at its very end was removed anyway, and a project with the same id may be there again.
      const isOver =
        deletion.what === 'project' && !this.#parts.store.pending().some(({ seq }) => seq === deletion.seq);
      const spans = isOver ? 0 : await this.#parts.work.perform(deletion, onHidden);
      clearTimeout(this.#retries.get(deletion.seq));
      this.#retries.delete(deletion.seq);
      observer.deletionFinished({ what: deletion.what, spans, seconds: (performance.now() - started) / 1000 });
    } catch (error) {
      if (!this.#parts.stopping.aborted) {
        observer.deletionFailed({ project: deletion.project_id, error });
        this.#retry(deletion, attempts);
      }
      throw error;
    }
  }

  #retry(deletion: Deletion, failed: number): void {
    const retry = setTimeout(
      () => {
        this.#retries.delete(deletion.seq);
        this.run(deletion, failed + 1);
      },
      retryDelay(failed, RETRIES.work),
    );
    clearTimeout(this.#retries.get(deletion.seq));
    this.#retries.set(deletion.seq, retry.unref());
  }

  /** Tries nothing again, and resolves when what is in progress has ended. */
  async close(): Promise<void> {
    for (const retry of this.#retries.values()) clearTimeout(retry);
    await Promise.allSettled([...this.#running.values()].map(({ done }) => done));
  }
}
