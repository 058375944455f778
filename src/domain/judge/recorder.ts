import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../errors.js';
import type { Span } from '../span/span.js';
import type { Evaluation } from './evaluation.js';
import type { RunOutcome, RunStore } from './run-store.js';

/** How a run ended, with its calls as spans of its project. */
export interface Ending {
  readonly outcome: RunOutcome;
  readonly spans: readonly Span[];
}

export interface RecorderObserver {
  evaluationStored(evaluation: { readonly result: boolean; readonly origin: Evaluation['origin'] }): void;
  runRetried(): void;
  runFailed(failure: { readonly judge: string; readonly span: string; readonly reason: string }): void;
  /** Evaluations are stored, but not the spans of the calls that brought them. */
  callSpansLost(loss: { readonly count: number; readonly error: unknown }): void;
  /** It is tried again. */
  recordingFailed(failure: { readonly error: unknown }): void;
}

export interface RecorderOptions {
  readonly runs: Pick<RunStore, 'settle'>;
  readonly storeSpans: (projectId: string, spans: readonly Span[]) => Promise<unknown>;
  /** Whether clients keep the store busy: then larger groups disturb them less. */
  readonly busy: () => boolean;
  /** Called with the ids of runs that are recorded. */
  readonly onRecorded: (runIds: readonly string[]) => void;
  readonly observer: RecorderObserver;
}

/** So long endings gather, and so many at most are written together: few transactions, each short. */
const GATHER_MS = 40;
const GATHER_BUSY_MS = 1_000;
const MAX_TOGETHER = 128;
const RETRY_MS = 500;
/** So long the spans of calls are tried to be stored, before their evaluations are recorded without them. */
const SPAN_DEADLINE_MS = 20_000;
const SPAN_DEADLINE_STOPPING_MS = 1_000;

/**
 * Records how runs ended, in groups. First the spans of the calls, whose ids follow from run and attempt: after a crash
 * in between, the same run replaces them. Then, in one transaction, evaluations and the removal of their runs.
 */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #stopping = new AbortController();
  #waiting: Ending[] = [];
  #running: Promise<void> | null = null;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  add(ending: Ending): void {
    this.#waiting.push(ending);
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Resolves once everything added is recorded, or cannot be: then those runs are still queued at the next start. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (this.#waiting.length < MAX_TOGETHER) await this.#rest(this.#options.busy() ? GATHER_BUSY_MS : GATHER_MS);
      const group = this.#waiting.splice(0, MAX_TOGETHER);
      await this.#storeSpans(group);
      if (!(await this.#settle(group.map(({ outcome }) => outcome)))) return;
      this.#options.onRecorded(group.map(({ outcome }) => outcome.run.id));
    }
  }

  async #storeSpans(group: readonly Ending[]): Promise<void> {
    const byProject = new Map<string, Span[]>();
    for (const { outcome, spans } of group) {
      if (spans.length === 0) continue;
      const { project_id } = outcome.run;
      byProject.set(project_id, [...(byProject.get(project_id) ?? []), ...spans]);
    }
    await Promise.all([...byProject].map(([project, spans]) => this.#storeOf(project, spans)));
  }

  async #storeOf(projectId: string, spans: readonly Span[]): Promise<void> {
    const started = performance.now();
    for (;;) {
      try {
        await this.#options.storeSpans(projectId, spans);
        return;
      } catch (error) {
        const deadline = this.#stopping.signal.aborted ? SPAN_DEADLINE_STOPPING_MS : SPAN_DEADLINE_MS;
        if (!isPassing(error) || performance.now() - started > deadline) {
          this.#options.observer.callSpansLost({ count: spans.length, error });
          return;
        }
        await sleep(RETRY_MS);
      }
    }
  }

  /** False when the store does not answer until the end: those runs are still queued at the next start. */
  async #settle(outcomes: readonly RunOutcome[]): Promise<boolean> {
    const { runs, observer } = this.#options;
    for (;;) {
      try {
        const stored = runs.settle(outcomes, Date.now() * 1000);
        for (const { evaluation_result: result, origin } of stored) observer.evaluationStored({ result, origin });
        for (const outcome of outcomes) this.#tell(outcome);
        return true;
      } catch (error) {
        observer.recordingFailed({ error });
        if (!isPassing(error)) return this.#settleOneByOne(outcomes);
        if (this.#stopping.signal.aborted) return false;
        await this.#rest(RETRY_MS);
      }
    }
  }

  /** One that cannot be stored must keep neither the others nor the queue. */
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
      observer.runFailed({ judge: outcome.run.judge_id, span: outcome.run.span_id, reason: outcome.reason });
  }

  #rest(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#stopping.signal }).catch(() => undefined);
  }
}

export const DEFECT = 'a defect of the server; its log says more';

export function isPassing(error: unknown): boolean {
  return error instanceof DomainError && (error.kind === 'unavailable' || error.kind === 'overloaded');
}
