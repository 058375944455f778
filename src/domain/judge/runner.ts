import { setTimeout as sleep } from 'node:timers/promises';
import { Breaker, retryDelay } from './backoff.js';
import { callSpans } from './call-spans.js';
import type { Judge } from './judge.js';
import type { JudgeCaller, Judgement } from './judge-caller.js';
import type { JudgeStore } from './judge-store.js';
import { DEFECT, isPassing, Recorder, type Ending, type RecorderObserver } from './recorder.js';
import { Politeness, type WriteLoad } from './politeness.js';
import type { Run } from './run.js';
import type { RunOutcome, RunStore } from './run-store.js';
import type { JudgedSpan, SpanReader } from './span-reader.js';
import type { Span } from '../span/span.js';

export interface RunnerObserver extends RecorderObserver {
  /** It goes on by itself. */
  runnerFailed(failure: { readonly error: unknown }): void;
}

export interface RunnerOptions {
  readonly runs: RunStore;
  readonly judges: Pick<JudgeStore, 'find'>;
  readonly spans: Pick<SpanReader, 'read'>;
  readonly caller: JudgeCaller;
  /** Host of the endpoint. */
  readonly host: string;
  readonly storeSpans: (projectId: string, spans: readonly Span[]) => Promise<unknown>;
  readonly writeLoad: () => WriteLoad;
  readonly concurrency: number;
  readonly maxAttempts: number;
  /** Wait before the second attempt; default 1 s. */
  readonly retryBaseMs?: number;
  /** Called when there is room in the queue. */
  readonly onRoom: () => void;
  readonly observer: RunnerObserver;
}

/** A run with what it needs. */
interface Ready {
  readonly run: Run;
  readonly judge: Judge;
  readonly span: JudgedSpan;
}

/** Runs are made ready together, with one read of spans. */
const READY_TOGETHER = 64;
/** Endings that wait to be recorded; beyond it no run starts. */
const MAX_UNRECORDED = 512;
const RETRY_MS = 1_000;
const RETRY_BASE_MS = 1_000;
/** So long calls under way may go on when the server stops. */
const GRACE_MS = 500;

/** Works off the queue of evaluations: a bounded number at once, first come, first served. */
export class JudgeRunner {
  readonly #options: RunnerOptions;
  readonly #recorder: Recorder;
  readonly #breaker: Breaker;
  readonly #politeness: Politeness;
  readonly #stopping = new AbortController();
  readonly #aborting = new AbortController();
  /** Ids of runs that are ready, running, or ended and not recorded yet. */
  readonly #taken = new Set<string>();
  readonly #running = new Map<string, Promise<void>>();
  #ready: Ready[] = [];
  #pumping: Promise<void> | null = null;
  #woken = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: RunnerOptions) {
    this.#options = options;
    this.#politeness = new Politeness(options.writeLoad);
    this.#breaker = new Breaker(options.retryBaseMs ?? RETRY_BASE_MS);
    this.#recorder = new Recorder({
      runs: options.runs,
      storeSpans: options.storeSpans,
      observer: options.observer,
      busy: () => this.#politeness.othersAreBusy(),
      onRecorded: (ids) => {
        for (const id of ids) this.#taken.delete(id);
        options.onRoom();
        this.wake();
      },
    });
  }

  /** Ids of the runs for which a model is being asked. */
  running(): string[] {
    return [...this.#running.keys()];
  }

  /** There may be something to do. */
  wake(): void {
    this.#woken = true;
    if (this.#stopping.signal.aborted) return;
    this.#pumping ??= this.#pump().finally(() => {
      this.#pumping = null;
      if (this.#woken) this.wake();
    });
  }

  /** What was made ready is made ready anew: judges changed. */
  changed(): void {
    this.#release(this.#ready.splice(0));
    this.wake();
  }

  /** Gives calls under way a moment, then gives them up; they are still queued then. */
  async close(): Promise<void> {
    this.#stopping.abort();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#pumping;
    const ended = Promise.all(this.#running.values());
    await Promise.race([ended, sleep(GRACE_MS)]);
    this.#aborting.abort();
    await ended;
    await this.#recorder.close();
  }

  async #pump(): Promise<void> {
    // What wakes it in the same turn is looked at together.
    await Promise.resolve();
    while (this.#woken && !this.#stopping.signal.aborted) {
      this.#woken = false;
      try {
        await this.#fill();
      } catch (error) {
        this.#options.observer.runnerFailed({ error });
        this.#wakeIn(RETRY_MS);
      }
    }
  }

  async #fill(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const wait = Math.max(this.#breaker.waitMs(), this.#politeness.waitMs());
      if (wait > 0) {
        this.#wakeIn(wait);
        return;
      }
      const free = this.#breaker.atOnce(this.#options.concurrency) - this.#running.size;
      if (free <= 0 || this.#taken.size - this.#ready.length > MAX_UNRECORDED) return;
      if (this.#ready.length === 0 && !(await this.#makeReady())) return;
      const next = this.#ready.shift();
      if (next !== undefined) this.#begin(next);
    }
  }

  /** @returns whether there is anything to go on with */
  async #makeReady(): Promise<boolean> {
    const { runs } = this.#options;
    const now = Date.now() * 1000;
    const due = runs.due(now, this.#taken.size + READY_TOGETHER).filter(({ id }) => !this.#taken.has(id));
    if (due.length === 0) {
      const next = runs.nextDue(now);
      if (next !== null) this.#wakeIn((next - now) / 1000);
      return false;
    }
    const together = due.slice(0, READY_TOGETHER);
    for (const { id } of together) this.#taken.add(id);
    try {
      this.#ready.push(...(await this.#withSpans(together)));
      return true;
    } catch (error) {
      this.#release(together.map((run) => ({ run })));
      throw error;
    }
  }

  async #withSpans(runs: readonly Run[]): Promise<Ready[]> {
    const spans = new Map<string, Map<string, JudgedSpan>>();
    for (const project of new Set(runs.map(({ project_id }) => project_id)))
      spans.set(
        project,
        await this.#options.spans.read(
          project,
          runs.filter(({ project_id }) => project_id === project),
        ),
      );
    const judges = new Map<string, Judge | undefined>();
    return runs.flatMap((run) => {
      const { judge_id, project_id } = run;
      if (!judges.has(judge_id)) judges.set(judge_id, this.#options.judges.find(project_id, judge_id));
      const judge = judges.get(judge_id);
      const span = spans.get(project_id)?.get(run.span_id);
      if (judge !== undefined && span !== undefined) return [{ run, judge, span }];
      const reason = span === undefined ? 'the span is no longer there' : 'the judge is no longer there';
      this.#recorder.add({ outcome: { kind: 'failed', run, reason }, spans: [] });
      return [];
    });
  }

  #begin(ready: Ready): void {
    const { id } = ready.run;
    this.#politeness.began();
    const work = this.#work(ready).finally(() => {
      this.#running.delete(id);
      this.wake();
    });
    this.#running.set(id, work);
  }

  async #work({ run, judge, span }: Ready): Promise<void> {
    const { caller, host } = this.#options;
    try {
      const judgement = await caller.evaluate(judge, span, this.#aborting.signal);
      const { failure } = judgement;
      if (failure?.code === 'aborted') {
        this.#release([{ run }]);
        return;
      }
      if (failure?.passing === true) this.#breaker.failed(failure.retryAfterMs);
      else if (judgement.calls.length > 0) this.#breaker.succeeded();
      const origin = { judge, runId: run.id, attempt: run.attempts + 1, spanId: run.span_id, host };
      this.#recorder.add({ outcome: this.#outcome(run, judge, judgement), spans: callSpans(origin, judgement.calls) });
    } catch (error) {
      this.#options.observer.runnerFailed({ error });
      this.#recorder.add(this.#mishap(run, error));
    }
  }

  /** What no model is to blame for. */
  #mishap(run: Run, error: unknown): Ending {
    const at = (Date.now() + RETRY_MS) * 1000;
    const outcome: RunOutcome =
      isPassing(error) && run.attempts + 1 < this.#options.maxAttempts
        ? { kind: 'retry', run, reason: 'a store did not answer', at }
        : { kind: 'failed', run, reason: DEFECT };
    return { outcome, spans: [] };
  }

  #outcome(run: Run, judge: Judge, judgement: Judgement): RunOutcome {
    const { verdict, failure } = judgement;
    if (verdict !== null) return { kind: 'evaluated', run, evaluation: evaluationOf(run, judge, judgement, verdict) };
    const reason = failure?.message ?? 'no verdict';
    const attempts = run.attempts + 1;
    if (failure?.passing !== true) return { kind: 'failed', run, reason };
    const { maxAttempts, retryBaseMs = RETRY_BASE_MS } = this.#options;
    if (attempts >= maxAttempts)
      return { kind: 'failed', run, reason: `given up after ${attempts} attempts: ${reason}` };
    const delay = retryDelay(attempts, retryBaseMs, failure.retryAfterMs);
    return { kind: 'retry', run, reason, at: Math.round((Date.now() + delay) * 1000) };
  }

  #release(ready: readonly Pick<Ready, 'run'>[]): void {
    for (const { run } of ready) this.#taken.delete(run.id);
  }

  #wakeIn(ms: number): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.wake();
      },
      Math.min(60_000, Math.ceil(ms)),
    );
    this.#timer.unref();
  }
}

function evaluationOf(run: Run, judge: Judge, judgement: Judgement, verdict: NonNullable<Judgement['verdict']>) {
  return {
    ...verdict,
    id: run.id,
    project_id: run.project_id,
    judge_id: run.judge_id,
    span_id: run.span_id,
    origin: run.origin,
    evaluation_type: judge.evaluation_type,
    score_min: judge.score_min,
    score_max: judge.score_max,
    pass_threshold: judge.pass_threshold,
    model_used: judgement.model_used,
    duration_ms: judgement.duration_ms,
    prompt_version_id: judgement.prompt_version_id,
    judge_version: judgement.judge_version,
  };
}
