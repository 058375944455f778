import { setTimeout as sleep } from 'node:timers/promises';
import type { ExperimentResults } from '../../engine/traces/model/experiment/results.js';
import type { Below, DeletedThing, StoredSpans } from '../../engine/traces/model/deletion/stored-spans.js';
import type { Signals } from '../../engine/signals/signals.js';
import { RETRIES, retryDelay } from '../../engine/work/backoff.js';
import type { ExperimentStore } from './experiment.js';
import type { ResultIntake } from './result-intake.js';

/** How long the answer to a deletion waits for results to be gone. */
const WAIT_MS = 10_000;
/** Traces whose contents are read together. */
const TRACES_AT_ONCE = 500;

export interface ExperimentRemovalParts {
  readonly experiments: Pick<ExperimentStore, 'hidden' | 'forget'>;
  readonly results: Pick<ExperimentResults, 'spansOf'>;
  readonly intake: Pick<ResultIntake, 'idle'>;
  readonly stored: Pick<StoredSpans, 'contents'>;
  /** Deletes spans with all that belongs to them. @returns false: there were none */
  readonly removeSpans: (projectId: string, experimentId: string, below: Below) => Promise<boolean>;
  readonly observer: Pick<Signals, 'experimentNotRemoved'>;
}

/**
 * Removes experiments that are hidden, with the spans of their results. An experiment is forgotten when none is left: what is cut
 * off, the next start does.
 */
export class ExperimentRemoval {
  readonly #parts: ExperimentRemovalParts;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #retry: NodeJS.Timeout | null = null;
  #failed = 0;

  constructor(parts: ExperimentRemovalParts) {
    this.#parts = parts;
  }

  /** Resolves when hidden experiments are gone, or after a while. What fails is tried again. */
  async remove(): Promise<void> {
    const done = this.#run();
    const waiting = new AbortController();
    const late = sleep(WAIT_MS, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
    await Promise.race([done, late]);
    waiting.abort();
  }

  /** Goes on with what a stop has cut off. */
  resume(): void {
    void this.#run();
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    if (this.#retry !== null) clearTimeout(this.#retry);
    await this.#running;
  }

  /** One after the other: what is asked for meanwhile is found by the next run. */
  #run(): Promise<void> {
    this.#running = this.#running.then(() => this.#removeHidden());
    return this.#running;
  }

  async #removeHidden(): Promise<void> {
    const { experiments, observer } = this.#parts;
    try {
      for (const { id, project_id } of experiments.hidden()) {
        if (this.#stopping.signal.aborted) return;
        await this.#remove(project_id, id);
      }
      this.#failed = 0;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      observer.experimentNotRemoved({ error });
      this.#failed += 1;
      if (this.#retry !== null) clearTimeout(this.#retry);
      this.#retry = setTimeout(() => void this.#run(), retryDelay(this.#failed, RETRIES.work)).unref();
    }
  }

  async #remove(projectId: string, id: string): Promise<void> {
    const { experiments, intake, removeSpans } = this.#parts;
    await intake.idle(id);
    // Clients may mark spans as its results meanwhile.
    for (let more = true; more;)
      more = await removeSpans(projectId, id, {
        upTo: Date.now() * 1000,
        things: this.#things(projectId, id),
      });
    experiments.forget(id);
  }

  /** The spans of its results, and what was posted about traces that have nothing else. */
  async *#things(projectId: string, id: string): AsyncGenerator<readonly DeletedThing[]> {
    const { results, stored } = this.#parts;
    for await (const portion of results.spansOf(projectId, id, this.#stopping.signal)) {
      const spans = new Set(portion.map(({ id: span, trace_id }) => `${trace_id}/${span}`));
      const own = new Set(portion.flatMap(({ id: span, trace_id }) => (span === trace_id ? [span] : [])));
      const traces = [...new Set(portion.map(({ trace_id }) => trace_id))];
      for (let from = 0; from < traces.length; from += TRACES_AT_ONCE)
        for await (const things of stored.contents(projectId, traces.slice(from, from + TRACES_AT_ONCE))) {
          const meant = things.filter(
            ({ kind, trace_id, id: thing }) =>
              (kind === 'span' && spans.has(`${trace_id}/${thing}`)) || (kind === 'trace' && own.has(trace_id)),
          );
          if (meant.length > 0) yield meant;
        }
    }
  }
}
