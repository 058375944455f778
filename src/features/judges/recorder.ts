import { setTimeout as sleep } from 'node:timers/promises';
import { RETRIES, retryDelay } from '../../engine/work/backoff.js';
import { isRetryable } from '../../engine/work/retryable.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import type { Run } from './run.js';
import type { RunOutcome, RunStore } from './run-store.js';
import type { Signals } from '../../engine/signals/signals.js';

/** How a run ended, with its calls as spans of its project. */
export interface Ending {
  readonly outcome: RunOutcome;
  readonly spans: readonly Span[];
}

export interface RecorderOptions {
  readonly runs: Pick<RunStore, 'settle' | 'stillQueued'>;
  readonly storeSpans: (projectId: string, spans: readonly Span[]) => Promise<unknown>;
  /** Whether clients keep the store busy: then larger groups disturb them less. */
  readonly busy: () => boolean;
  /** Called with runs that are recorded. */
  readonly onRecorded: (runs: readonly Run[]) => void;
  readonly observer: Pick<
    Signals,
    'evaluationStored' | 'runRetried' | 'evaluationGivenUp' | 'callSpansLost' | 'recordingFailed'
  >;
}

/** How long endings gather; with a bound on their number, it makes for few transactions, each short. */
const GATHER_MS = 40;
const GATHER_BUSY_MS = 1_000;
const MAX_TOGETHER = 128;
/** How long storing the spans of calls is tried, before their evaluations are recorded without them. */
const SPAN_DEADLINE_MS = 20_000;
const SPAN_DEADLINE_STOPPING_MS = 1_000;

/**
 * Records how runs ended, in groups; projects do not wait for one another's spans to be stored. First the spans of the
 * calls, whose ids follow from run and attempt: after a crash in between, the same run replaces them. Then, in one
 * transaction, evaluations and the removal of their runs.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #stopping = new AbortController();
  /** Endings whose spans are to be stored, by project. */
  readonly #waiting = new Map<string, Ending[]>();
  /** Projects whose spans are being stored. */
  readonly #storing = new Map<string, Promise<void>>();
  /** The group of a project that is being stored. */
  readonly #groups = new Map<string, Promise<void>>();
  /** Endings that can be recorded. */
  #stored: RunOutcome[] = [];
  #settling: Promise<void> | null = null;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  add(ending: Ending): void {
    const { project_id } = ending.outcome.run;
    const waiting = this.#waiting.get(project_id);
    if (waiting === undefined) this.#waiting.set(project_id, [ending]);
    else waiting.push(ending);
    this.#begin(project_id);
  }

  #begin(projectId: string): void {
    if (this.#storing.has(projectId) || !this.#waiting.has(projectId)) return;
    const storing = this.#store(projectId).finally(() => {
      this.#storing.delete(projectId);
      this.#begin(projectId);
    });
    this.#storing.set(projectId, storing);
  }

  /** Resolves once all added endings of a project are recorded. */
  async flushed(projectId: string): Promise<void> {
    const added = new Set(this.#waiting.get(projectId));
    await this.#groups.get(projectId);
    while (this.#waiting.get(projectId)?.some((ending) => added.has(ending)) === true) await this.#rest(GATHER_MS);
    await this.#groups.get(projectId);
    await this.#settling;
  }

  /** Resolves once everything added is recorded, or cannot be: then those runs are still queued at the next start. */
  async close(): Promise<void> {
    this.#stopping.abort();
    while (this.#storing.size > 0) await Promise.all(this.#storing.values());
    await this.#settling;
  }

  /** Stores the spans of a project's calls, and hands on the endings that can then be recorded. */
  async #store(projectId: string): Promise<void> {
    for (let waiting = this.#waiting.get(projectId); waiting !== undefined; waiting = this.#waiting.get(projectId)) {
      if (waiting.length < MAX_TOGETHER) await this.#rest(this.#options.busy() ? GATHER_BUSY_MS : GATHER_MS);
      const group = waiting.splice(0, MAX_TOGETHER);
      if (waiting.length === 0) this.#waiting.delete(projectId);
      const stored = this.#storeGroup(projectId, group).finally(() => this.#groups.delete(projectId));
      this.#groups.set(projectId, stored);
      await stored;
    }
  }

  /** Stores the spans of calls, except for runs that are queued no more, as their spans were deleted. */
  async #storeGroup(projectId: string, group: readonly Ending[]): Promise<void> {
    const queued = this.#stillQueued(group.map(({ outcome }) => outcome.run.id));
    const isWanted = ({ outcome }: Ending) => queued === null || queued.has(outcome.run.id);
    const wanted = group.filter(isWanted);
    const dropped = group.filter((ending) => !isWanted(ending));
    if (dropped.length > 0) this.#options.onRecorded(dropped.map(({ outcome }) => outcome.run));
    if (wanted.length === 0) return;
    const spans = wanted.flatMap((ending) => ending.spans);
    if (spans.length > 0) await this.#storeOf(projectId, spans);
    this.#stored.push(...wanted.map(({ outcome }) => outcome));
    this.#settling ??= this.#settleAll();
  }

  /** Which runs are still queued; null: the store does not answer. */
  #stillQueued(ids: readonly string[]): ReadonlySet<string> | null {
    try {
      return this.#options.runs.stillQueued(ids);
    } catch (error) {
      this.#options.observer.recordingFailed({ error });
      return null;
    }
  }

  async #settleAll(): Promise<void> {
    // Projects whose spans were stored in the same turn are recorded together.
    await Promise.resolve();
    while (this.#stored.length > 0) {
      const group = this.#stored.splice(0, MAX_TOGETHER);
      if (!(await this.#settle(group))) return;
      this.#options.onRecorded(group.map(({ run }) => run));
    }
    this.#settling = null;
  }

  async #storeOf(projectId: string, spans: readonly Span[]): Promise<void> {
    const started = performance.now();
    for (let attempts = 1; ; attempts += 1) {
      try {
        await this.#options.storeSpans(projectId, spans);
        return;
      } catch (error) {
        const deadline = this.#stopping.signal.aborted ? SPAN_DEADLINE_STOPPING_MS : SPAN_DEADLINE_MS;
        if (!isRetryable(error) || performance.now() - started > deadline) {
          this.#options.observer.callSpansLost({ count: spans.length, error });
          return;
        }
        await sleep(retryDelay(attempts, RETRIES.soon));
      }
    }
  }

  /** Records outcomes; false when the store never answers: the runs are still queued at the next start. */
  async #settle(outcomes: readonly RunOutcome[]): Promise<boolean> {
    const { runs, observer } = this.#options;
    for (let attempts = 1; ; attempts += 1) {
      try {
        const stored = runs.settle(outcomes, Date.now() * 1000);
        for (const { evaluation_result: result, origin } of stored) observer.evaluationStored({ result, origin });
        for (const outcome of outcomes) this.#tell(outcome);
        return true;
      } catch (error) {
        observer.recordingFailed({ error });
        if (!isRetryable(error)) return this.#settleOneByOne(outcomes);
        if (this.#stopping.signal.aborted) return false;
        await this.#rest(retryDelay(attempts, RETRIES.soon));
      }
    }
  }

  /** Records outcomes singly, so that one that cannot be stored holds up neither the others nor the queue. */
  async #settleOneByOne(outcomes: readonly RunOutcome[]): Promise<boolean> {
    const [first, ...others] = outcomes;
    if (first === undefined || (others.length === 0 && first.kind === 'failed')) return true;
    if (others.length === 0) return this.#settle([{ kind: 'failed', run: first.run, reason: DEFECT }]);
    for (const outcome of outcomes) if (!(await this.#settle([outcome]))) return false;
    return true;
  }

  #tell(outcome: RunOutcome): void {
    const { observer } = this.#options;
    if (outcome.kind === 'retry') observer.runRetried();
    if (outcome.kind === 'failed')
      observer.evaluationGivenUp({ judge: outcome.run.judge_id, span: outcome.run.span_id, reason: outcome.reason });
  }

  #rest(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

export const DEFECT = 'an internal server error; see the server log';
