import { setTimeout as sleep } from 'node:timers/promises';
import { BackgroundLoop } from '../../engine/work/background-loop.js';
import { RETRIES, retryDelay, type Breaker, type Retry } from '../../engine/work/backoff.js';
import type { Governor } from '../../engine/work/governor.js';
import { isRetryable } from '../../engine/work/retryable.js';
import { Breakers } from './breakers.js';
import { callSpans } from './call-spans.js';
import type { JudgeCaller, Judgement } from './judge-caller.js';
import type { JudgeStore } from './judge-store.js';
import { maskedVerdict } from './masked-verdict.js';
import type { MaskerOf } from '../masking/maskers.js';
import { DEFECT, Recorder, type Ending, type RecorderOptions } from './recorder.js';
import { IngestPriorityThrottle } from './ingest-priority-throttle.js';
import { LOST, type PinnedVersions } from './pinned-versions.js';
import { evaluationOf } from './run-evaluation.js';
import type { Run } from './run.js';
import type { RunOutcome, RunStore } from './run-store.js';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import type { JudgedSpan, SpanReader } from '../../engine/traces/model/judged/span-reader.js';
import type { Ready } from './ready.js';
import { ReadyRuns, type ReadyRunsOptions } from './ready-runs.js';
import { SubjectReader, type SubjectReaderParts } from './subject-reader.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import type { Micros } from '../../engine/timestamp.js';
import type { Signals } from '../../engine/signals/signals.js';
import { LONGEST_QUIET } from './whole-settings.js';

export interface RunnerOptions extends SubjectReaderParts {
  readonly runs: RunStore;
  readonly judges: Pick<JudgeStore, 'find'>;
  readonly spans: Pick<SpanReader, 'read' | 'answers'>;
  readonly caller: JudgeCaller;
  readonly pinned: Pick<PinnedVersions, 'inHand'>;
  readonly storeSpans: (projectId: string, spans: readonly Span[]) => Promise<unknown>;
  readonly masker: MaskerOf;
  readonly governor: Pick<Governor, 'othersWriteFast'>;
  /** Whether evaluations of a project wait. @throws DomainError `unavailable` */
  readonly isPaused: (projectId: string) => boolean;
  readonly concurrency: number;
  readonly maxAttempts: number;
  /** The waits between attempts; default: those of work. */
  readonly retry?: Retry;
  /** Called when there is room in the queue. */
  readonly onRoom: () => void;
  readonly observer: RecorderOptions['observer'] & ReadyRunsOptions['observer'] & Pick<Signals, 'runnerFailed'>;
}

/** A run for which a model is being asked. */
interface UnderWay {
  readonly run: Run;
  readonly span: JudgedSpan;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/** Most endings that wait to be recorded; beyond them no run starts. */
const MAX_UNRECORDED = 512;
/** Longer than any wait for an attempt, in microseconds: what is due later was queued by a clock that was ahead. */
const LONGEST_WAIT: Micros = 3_600e6;
/** The same for runs about traces and sessions, which may wait for quiet. */
const LONGEST_WAIT_OF_WHOLES: Micros = LONGEST_QUIET + LONGEST_WAIT;
/** Longest wait before the next look at the queue: runs are due by the wall clock, which may be set. */
const MAX_WAIT_MS = 60_000;
/** How long calls under way may go on when the server stops. */
const GRACE_MS = 500;

/**
 * Works off the queue of evaluations: a bounded number at once. Projects take turns; of one project, it is first come,
 * first served.
 */
export class JudgeRunner implements WorkUnderWay {
  readonly #options: RunnerOptions;
  readonly #retry: Retry;
  readonly #recorder: Recorder;
  readonly #breakers: Breakers;
  readonly #readyRuns: ReadyRuns;
  readonly #throttle: IngestPriorityThrottle;
  readonly #loop: BackgroundLoop;
  readonly #aborting = new AbortController();
  readonly #running = new Map<string, UnderWay>();
  /** Calls under way, by breaker. */
  readonly #asking = new Map<Breaker, number>();
  /** When runs are looked for that a clock queued that was ahead, on the clock of `performance`. */
  #hastenAt = 0;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#loop = new BackgroundLoop({
      round: () => Math.min(MAX_WAIT_MS, this.#fill()),
      onFailure: (error) => options.observer.runnerFailed({ error }),
      retry: RETRIES.soon,
    });
    this.#throttle = new IngestPriorityThrottle(options.governor);
    this.#retry = options.retry ?? RETRIES.work;
    this.#breakers = new Breakers(this.#retry);
    this.#readyRuns = new ReadyRuns({
      ...options,
      subjects: new SubjectReader(options),
      retry: this.#retry,
      onReady: () => this.wake(),
      onEnded: (ending) => this.#recorder.add(ending),
    });
    this.#recorder = new Recorder({
      runs: options.runs,
      storeSpans: options.storeSpans,
      observer: options.observer,
      busy: () => this.#throttle.othersAreBusy(),
      onRecorded: (runs) => {
        this.#readyRuns.release(runs);
        options.onRoom();
        this.wake();
      },
    });
  }

  /** Ids of the runs for which a model is being asked. */
  running(): string[] {
    return [...this.#running.keys()];
  }

  /** Of how many models, counted for each project, calls are held back, as many in a row failed. */
  heldBack(): number {
    return this.#breakers.open((breaker) => this.#asking.has(breaker));
  }

  /** Begins a round, as there may be runs to begin. */
  wake(): void {
    this.#loop.wake();
  }

  /** Makes runs ready anew, as judges changed. */
  changed(): void {
    this.#readyRuns.reset();
    this.wake();
  }

  /**
   * Stops evaluations that hold texts of deleted spans. Ready runs about spans are checked again before they begin; those about
   * traces and sessions with such a span are read anew.
   */
  async giveUp({ projectId, spans, judges }: DeletionScope): Promise<void> {
    const holdsText = ({ id, whole, shows }: JudgedSpan) =>
      spans === null ||
      spans.has(id) ||
      (shows !== undefined && spans.has(shows.span_id)) ||
      (whole?.span_ids.some((each) => spans.has(each)) ?? false);
    this.#readyRuns.giveUp(projectId, holdsText);
    const given = [...this.#running.values()].filter(
      ({ run, span }) => run.project_id === projectId && (holdsText(span) || judges.has(run.judge_id)),
    );
    for (const { abort } of given) abort.abort();
    await Promise.all(given.map(({ ended }) => ended));
    await this.#recorder.flushed(projectId);
  }

  /** Gives calls under way a moment, then gives them up; their runs stay queued. */
  async close(): Promise<void> {
    await this.#loop.close();
    await this.#readyRuns.close();
    const ended = Promise.all([...this.#running.values()].map((each) => each.ended));
    await Promise.race([ended, sleep(GRACE_MS)]);
    this.#aborting.abort();
    await ended;
    await this.#recorder.close();
  }

  /** Begins the runs that may begin. @returns in how many milliseconds more may */
  #fill(): number {
    for (;;) {
      const wait = this.#throttle.waitMs();
      if (wait > 0) return wait;
      if (this.#running.size >= this.#options.concurrency || this.#readyRuns.underWay > MAX_UNRECORDED) return Infinity;
      const now = { at: performance.now(), time: Date.now() * 1000 };
      const next = this.#readyRuns.next((ready) => this.#mayBegin(ready));
      if (next === undefined) return this.#dueIn(now);
      this.#begin(next);
    }
  }

  #breakerOf({ judge, model }: Ready): Breaker {
    return this.#breakers.of(judge.project_id, model ?? '');
  }

  #mayBegin(ready: Ready): boolean {
    const breaker = this.#breakerOf(ready);
    return breaker.waitMs() === 0 && (this.#asking.get(breaker) ?? 0) < breaker.atOnce(this.#options.concurrency);
  }

  /**
   * Milliseconds until a model may be asked, a span read or a run tried again.
   * @param now a moment before all that might begin was looked at: what has become due since was not, and nothing else wakes for it
   */
  #dueIn({ at, time }: { readonly at: number; readonly time: Micros }): number {
    const next = this.#options.runs.nextDue(time);
    if (next !== null && next > time + LONGEST_WAIT && at >= this.#hastenAt) {
      const hastened = this.#options.runs.hasten(time + LONGEST_WAIT, time + LONGEST_WAIT_OF_WHOLES, time);
      if (hastened > 0) return 0;
      this.#hastenAt = at + MAX_WAIT_MS;
    }
    const models = this.#readyRuns
      .ready()
      .map((ready) => this.#breakerOf(ready).waitMs(at))
      .filter((ms) => ms > 0);
    return Math.min(this.#readyRuns.waitMs(at), next === null ? Infinity : (next - time) / 1000, ...models);
  }

  #begin(ready: Ready): void {
    const { run, span } = ready;
    if (!this.#isStillQueued(ready)) {
      this.#readyRuns.release([run]);
      return;
    }
    const breaker = this.#breakerOf(ready);
    this.#throttle.began();
    this.#asking.set(breaker, (this.#asking.get(breaker) ?? 0) + 1);
    const abort = new AbortController();
    const signal = AbortSignal.any([this.#aborting.signal, abort.signal]);
    const ended = this.#work(ready, breaker, signal).finally(() => {
      this.#running.delete(run.id);
      const others = (this.#asking.get(breaker) ?? 1) - 1;
      if (others > 0) this.#asking.set(breaker, others);
      else this.#asking.delete(breaker);
      this.wake();
    });
    this.#running.set(run.id, { run, span, abort, ended });
  }

  /** Whether a ready run was neither cancelled nor lost its span meanwhile. @throws DomainError `unavailable` */
  #isStillQueued({ run, span: { whole, shows } }: Ready): boolean {
    const { runs } = this.#options;
    const traces = whole?.trace_ids ?? (shows === undefined ? [] : [shows.trace_id]);
    try {
      // What a model is shown is noted first: whenever a span of it is deleted, that is found.
      return traces.length === 0 ? runs.stillQueued([run.id]).has(run.id) : runs.noteShown(run, traces);
    } catch (error) {
      this.#readyRuns.release([run]);
      throw error;
    }
  }

  async #work({ run, judge, span }: Ready, breaker: Breaker, signal: AbortSignal): Promise<void> {
    try {
      const version = run.pin == null ? {} : this.#options.pinned.inHand(judge, run.pin, span);
      if (version === null) {
        this.#recorder.add({ outcome: { kind: 'failed', run, reason: LOST }, spans: [] });
        return;
      }
      const judgement = await this.#options.caller.evaluate(judge, span, signal, version);
      const { failure } = judgement;
      if (failure?.code === 'aborted') {
        this.#readyRuns.release([run]);
        return;
      }
      if (failure?.retryable === true) breaker.failed(failure.retryAfterMs);
      else if (judgement.calls.length > 0) breaker.succeeded();
      const { shown } = judgement;
      const origin = { judge, runId: run.id, attempt: run.attempts + 1, spanId: span.id, whole: span.whole, shown };
      this.#recorder.add({
        outcome: this.#outcome({ run, judge, span }, judgement),
        spans: callSpans(origin, judgement.calls),
      });
    } catch (error) {
      this.#options.observer.runnerFailed({ error });
      this.#recorder.add(this.#outcomeOfUnexpectedError(run, error));
    }
  }

  /** Outcome of a run after an error that no model is to blame for. */
  #outcomeOfUnexpectedError(run: Run, error: unknown): Ending {
    const attempts = run.attempts + 1;
    const outcome: RunOutcome =
      isRetryable(error) && attempts < this.#options.maxAttempts
        ? { kind: 'retry', run, reason: 'a store did not respond', at: this.#nextAttempt(attempts, null) }
        : { kind: 'failed', run, reason: DEFECT };
    return { outcome, spans: [] };
  }

  #outcome({ run, judge, span }: Omit<Ready, 'model'>, judgement: Judgement): RunOutcome {
    const { verdict, failure } = judgement;
    if (verdict !== null) {
      const masked = maskedVerdict(verdict, this.#options.masker(run.project_id));
      return { kind: 'evaluated', run, evaluation: evaluationOf(run, judge, span, { judgement, verdict: masked }) };
    }
    const reason = failure?.message ?? 'no verdict';
    const attempts = run.attempts + 1;
    if (failure?.retryable !== true) return { kind: 'failed', run, reason };
    const { maxAttempts } = this.#options;
    if (attempts >= maxAttempts) return { kind: 'failed', run, reason: `failed after ${attempts} attempts: ${reason}` };
    return { kind: 'retry', run, reason, at: this.#nextAttempt(attempts, failure.retryAfterMs) };
  }

  #nextAttempt(failed: number, retryAfterMs: number | null): Micros {
    return Math.round((Date.now() + retryDelay(failed, this.#retry, retryAfterMs)) * 1000);
  }
}
