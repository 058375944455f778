import { setTimeout as sleep } from 'node:timers/promises';
import type { ExperimentResults } from '../../engine/traces/model/experiment/results.js';
import type { Below, DeletedThing, StoredSpans } from '../../engine/traces/model/deletion/stored-spans.js';
import type { Signals } from '../../engine/signals/signals.js';
import { RETRIES, retryDelay } from '../../engine/work/backoff.js';
import { PortionSize } from '../../engine/work/portions.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import type { ExperimentStore } from './experiment.js';
import type { ResultIntake } from './result-intake.js';

/** How long the answer to a deletion waits for results to be gone. */
const WAIT_MS = 10_000;
/** Traces whose contents are read together. */
const TRACES_AT_ONCE = 500;
/** How often spans are looked for that were marked during the round before. */
const MAX_ROUNDS = 3;
const COMPARISONS_AT_ONCE = 50;
const REMOVED_AT_ONCE = 4;

export interface ExperimentRemovalParts {
  readonly experiments: Pick<ExperimentStore, 'hidden' | 'forget'>;
  readonly results: Pick<ExperimentResults, 'spansOf'>;
  readonly intake: Pick<ResultIntake, 'idle'>;
  readonly stored: Pick<StoredSpans, 'contents'>;
  /** Deletes spans with all that belongs to them. @returns false: there were none */
  readonly removeSpans: (projectId: string, experimentId: string, below: Below) => Promise<boolean>;
  /** Removes some comparisons of an experiment. @returns how many */
  readonly removeComparisons: (experimentId: string, atOnce: number) => number;
  readonly observer: Pick<Signals, 'experimentNotRemoved'>;
}

/**
 * Removes experiments that are hidden, with the spans of their results. An experiment is forgotten when none is left: what is cut
 * off, the next start does.
 */
export class ExperimentRemoval {
  readonly #parts: ExperimentRemovalParts;
  readonly #stopping = new AbortController();
  /** Those in progress, by experiment: projects take turns, so that none waits for all that another deletes. */
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #turns = new FairSemaphore('removals of experiments', { atOnce: REMOVED_AT_ONCE, perParty: 1 });
  #retry: NodeJS.Timeout | null = null;
  /** Failures in a row. */
  #failed = 0;

  constructor(parts: ExperimentRemovalParts) {
    this.#parts = parts;
  }

  /** Resolves when a hidden experiment is gone, or after a while. What fails is tried again. */
  async remove(projectId: string, id: string): Promise<void> {
    const done = this.#start(projectId, id);
    const waiting = new AbortController();
    const late = sleep(WAIT_MS, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
    await Promise.race([done, late]);
    waiting.abort();
  }

  /** Continues with what a stop has interrupted, or what failed. */
  resume(): void {
    try {
      for (const { id, project_id } of this.#parts.experiments.hidden()) void this.#start(project_id, id);
    } catch (error) {
      this.#again(error);
    }
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    if (this.#retry !== null) clearTimeout(this.#retry);
    await Promise.all(this.#underWay.values());
  }

  #start(projectId: string, id: string): Promise<void> {
    const known = this.#underWay.get(id);
    if (known !== undefined) return known;
    const { signal } = this.#stopping;
    const done = this.#turns
      .run(projectId, () => this.#remove(projectId, id), signal)
      .then(
        () => void (this.#failed = 0),
        (error: unknown) => this.#again(error),
      )
      .finally(() => this.#underWay.delete(id));
    this.#underWay.set(id, done);
    return done;
  }

  /** Tries unfinished removals again, after a while. */
  #again(error: unknown): void {
    if (this.#stopping.signal.aborted) return;
    this.#parts.observer.experimentNotRemoved({ error });
    if (this.#retry !== null) return;
    this.#failed += 1;
    const again = () => {
      this.#retry = null;
      this.resume();
    };
    this.#retry = setTimeout(again, retryDelay(this.#failed, RETRIES.work)).unref();
  }

  async #remove(projectId: string, id: string): Promise<void> {
    const { experiments, intake, removeSpans } = this.#parts;
    this.#stopping.signal.throwIfAborted();
    await this.#removeComparisons(id);
    await intake.idle(id);
    // Clients may mark spans as its results meanwhile. Those who do not stop keep their spans, which are of no experiment then.
    for (let round = 1, more = true; more && round <= MAX_ROUNDS; round += 1)
      more = await removeSpans(projectId, id, {
        upTo: Date.now() * 1000,
        things: this.#things(projectId, id),
      });
    experiments.forget(id);
  }

  async #removeComparisons(id: string): Promise<void> {
    const portions = new PortionSize({ first: 1, most: COMPARISONS_AT_ONCE });
    const remove = (atOnce: number) => this.#parts.removeComparisons(id, atOnce);
    while ((await portions.turn(remove, this.#stopping.signal)) > 0);
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
