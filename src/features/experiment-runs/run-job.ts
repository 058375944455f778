import { setTimeout as sleep } from 'node:timers/promises';
import type { ModelRequest } from '../../engine/models/model-client.js';
import type { ExperimentResults } from '../../engine/traces/model/experiment/results.js';
import type { PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import { Breaker, RETRIES, retryDelay } from '../../engine/work/backoff.js';
import { isRetryable } from '../../engine/work/retryable.js';
import { JobFailure } from '../../engine/work/job.js';
import { TO_BE_CONTINUED, type JobContext, type JobWork } from '../../engine/work/job-work.js';
import type { DatasetService } from '../datasets/dataset-service.js';
import type { Experiment, ExperimentStore } from '../experiments/experiment.js';
import type { MissingResult, MissingResults } from '../experiments/missing-results.js';
import type { GivenResult } from '../experiments/given-result.js';
import { placeOf, type ResultIntake } from '../experiments/result-intake.js';
import { MAX_BODY_BYTES } from '../playground/schema.js';
import { RunCost } from './expected-cost.js';
import { askForRow, callSpansOf, type Asked, type RowCallsOptions } from './row-calls.js';
import type { RunCheckpoint } from './run-jobs.js';
import { isTried, RowRequests, type RunPlan, type RunSummary } from './run-plan.js';
import { MAX_RUN_RESULTS } from './schema.js';

export interface RunParts extends RowCallsOptions {
  readonly experiments: Pick<ExperimentStore, 'find' | 'setStatus'>;
  readonly results: Pick<ExperimentResults, 'figures'>;
  readonly missing: Pick<MissingResults, 'page'>;
  readonly datasets: Pick<DatasetService, 'rowSizes' | 'namedRows'>;
  readonly intake: Pick<ResultIntake, 'store' | 'storing'>;
  /** Stores calls as spans of a project. @throws DomainError */
  readonly storeSpans: (projectId: string, spans: readonly Span[]) => Promise<unknown>;
  readonly price: PriceModelCall;
  /** Whether calls of a project wait. @throws DomainError `unavailable` */
  readonly isPaused: (projectId: string) => boolean;
}

/** Then other jobs have their turns. */
const TURN_MS = 60_000;
/** Results whose order is kept: behind them progress is kept at the latest. */
const RESULTS_AT_ONCE = 1_000;
const PROGRESS_EVERY_MS = 500;
/** How often it is looked whether calls under way have left room for another. */
const ROOM_EVERY_MS = 50;
/** Results in a row that failed although they were tried again, after which the rest would fail, too. */
const MAX_FAILURES = 10;
/** How often an answer is stored before it is given up, and asked for again by the next attempt of the job. */
const STORE_ATTEMPTS = 4;
/** Answers that could not be stored, after which the run ends: each is paid for, and has no result. */
const MAX_UNSTORED = 20;
const UNSTORED = `${MAX_UNSTORED} answers of the model could not be stored, as a store did not respond`;
/** Codes of failures that show that the endpoint is not set up for such calls at all. */
const HOPELESS = new Set(['401', '403', '404', 'setup']);

/** Makes the results of an experiment that are missing, and finishes it. */
export function runJob(parts: RunParts): JobWork {
  return (context) => new Run(parts, context).run();
}

class Run {
  readonly #parts: RunParts;
  readonly #context: JobContext;
  readonly #plan: RunPlan;
  readonly #requests: RowRequests;
  readonly #breaker: Breaker;
  readonly #endsAt = performance.now() + TURN_MS;
  #cost: RunCost;
  /** Results that are there. */
  #done = 0;
  #failuresInRow = 0;
  #unstored = 0;
  /** Whether a result failed, and the others under way are given up with it. */
  #isGivenUp = false;
  #keptAt = performance.now();
  /** Why no more is asked; null: nothing is in the way. */
  #stopped: string | null = null;
  /** Whether something was left for the next turn. */
  #isLate = false;

  constructor(parts: RunParts, context: JobContext) {
    this.#parts = parts;
    this.#context = context;
    this.#plan = context.job.input as RunPlan;
    this.#requests = new RowRequests(this.#plan);
    this.#breaker = new Breaker(parts.retry ?? RETRIES.work);
    this.#cost = new RunCost(parts.price, context.job.project_id, this.#plan.max_cost, null);
  }

  async run(): Promise<unknown> {
    const { job, signal } = this.#context;
    const experiment = this.#experiment();
    if (experiment.status === 'finished') return { results: job.done };
    const { rows } = job.summary as RunSummary;
    const wanted = rows * experiment.repetitions;
    this.#context.enter('asking', wanted);
    const missing = await this.#missing(experiment);
    this.#done = Math.max(0, wanted - missing.length);
    const figures = (await this.#parts.results.figures(job.project_id, [experiment.id], signal)).get(experiment.id);
    // More than its results cost: where costs are not known they are estimated, and results may have been deleted.
    const { cost = null, unstored = 0 } = (job.checkpoint as RunCheckpoint | null) ?? {};
    this.#unstored = unstored;
    if (unstored >= MAX_UNSTORED) throw new JobFailure(UNSTORED);
    const spent = figures?.cost == null ? cost : Math.max(figures.cost, cost ?? 0);
    this.#cost = new RunCost(this.#parts.price, job.project_id, this.#plan.max_cost, spent);
    try {
      for (let from = 0; from < missing.length && this.#goesOn(); from += RESULTS_AT_ONCE)
        await this.#make(missing.slice(from, from + RESULTS_AT_ONCE));
    } finally {
      this.#keep();
    }
    if (this.#stopped !== null) throw new JobFailure(this.#stopped);
    if (this.#isLate) return TO_BE_CONTINUED;
    this.#experiment();
    this.#parts.experiments.setStatus(experiment.id, 'finished', null, Date.now() * 1000);
    return { results: this.#done };
  }

  async #missing(experiment: Experiment): Promise<readonly MissingResult[]> {
    const { job, signal } = this.#context;
    const window = { limit: MAX_RUN_RESULTS, offset: 0 };
    const tried = isTried(this.#plan.rows);
    return (await this.#parts.missing.page(job.project_id, experiment, window, signal, tried)).missing;
  }

  async #make(portion: readonly MissingResult[]): Promise<void> {
    let from = 0;
    // What a call costs is known after the first.
    for (; this.#cost.isUnknown && from < portion.length && this.#goesOn(); from += 1)
      await this.#each(portion.slice(from, from + 1));
    if (from < portion.length && this.#goesOn()) await this.#each(portion.slice(from));
  }

  async #each(some: readonly MissingResult[]): Promise<void> {
    await this.#context.each(some, async (one) => {
      try {
        await this.#one(one);
      } catch (error) {
        this.#isGivenUp ||= !this.#context.signal.aborted;
        throw error;
      }
    });
  }

  #goesOn(): boolean {
    this.#isLate ||= performance.now() > this.#endsAt || this.#parts.isPaused(this.#context.job.project_id);
    return this.#stopped === null && !this.#isLate;
  }

  async #one(one: MissingResult): Promise<void> {
    if (!this.#goesOn()) return;
    const experiment = this.#experiment();
    const content = this.#parts.datasets.namedRows(placeOf(experiment), [one.row_id]).get(one.row_id);
    if (content === undefined) return;
    const request = this.#requests.of(content);
    if (request === null) return this.#store(one, tooLarge(), []);
    const reserved = await this.#reserve(request);
    if (reserved === null) {
      this.#stopped ??= `Stopped before max_cost: the next call may bring the cost above ${this.#plan.max_cost} US dollars`;
      return;
    }
    try {
      // It may have stopped while this waited for room.
      if (!this.#goesOn()) return;
      const asked = await this.#ask(request, reserved);
      if (asked === null) return;
      const spans = callSpansOf(experiment.id, one, this.#plan, asked.calls);
      // Whatever becomes of the answer, it is paid for.
      this.#cost.add(spans, asked.output === null ? 0 : reserved);
      await this.#stored(one, givenOf(asked), spans);
    } finally {
      this.#cost.release(reserved);
    }
  }

  /** Reserves what a call may cost, once others under way leave room for it. @returns null: there is none */
  async #reserve(request: ModelRequest): Promise<number | null> {
    for (;;) {
      const reserved = this.#cost.reserve(request);
      if (reserved !== null || !this.#cost.isReserved) return reserved;
      await sleep(ROOM_EVERY_MS, undefined, { signal: this.#context.signal });
    }
  }

  /** @returns null: the run stops, and nothing of this is stored */
  async #ask(request: ModelRequest, reserved: number): Promise<Asked | null> {
    const { job, signal } = this.#context;
    // The model may answer a call that nobody waits for any more, and that is paid for.
    const onAbandoned = () => this.#cost.add([], reserved);
    const asked = await askForRow(this.#parts, job.project_id, request, {
      breaker: this.#breaker,
      signal,
      onAbandoned,
    });
    const { failure } = asked;
    if (failure === null || !failure.retryable) this.#failuresInRow = 0;
    else this.#failuresInRow += 1;
    if (failure !== null && HOPELESS.has(failure.code)) {
      this.#stopped ??= failure.message;
      return null;
    }
    if (failure !== null && this.#failuresInRow >= MAX_FAILURES)
      this.#stopped ??= `${MAX_FAILURES} results in a row failed, the last one with: ${failure.message}`;
    return asked;
  }

  /** Stores an answer; again, while a store does not answer, as asking for it again would cost as much again. */
  async #stored(one: MissingResult, made: MadeResult, spans: readonly Span[]): Promise<void> {
    for (let attempt = 1; ; attempt += 1)
      try {
        await this.#store(one, made, spans);
        return;
      } catch (error) {
        const { signal } = this.#context;
        // Those given up with another are asked for again, too; a run that is stopped or canceled does not count them.
        if (signal.aborted ? !this.#isGivenUp : !isRetryable(error)) throw error;
        if (!signal.aborted && attempt < STORE_ATTEMPTS) {
          const pause = retryDelay(attempt, this.#parts.retry ?? RETRIES.work);
          await sleep(pause, undefined, { signal }).catch(() => undefined);
          continue;
        }
        this.#unstored += 1;
        if (this.#unstored < MAX_UNSTORED) throw error;
        throw new JobFailure(UNSTORED);
      }
  }

  /** A row that was erased while the model was asked has no result: a deletion waits for this, and finds what is stored. */
  async #store({ row_id, repetition }: MissingResult, made: MadeResult, spans: readonly Span[]): Promise<void> {
    const { job, signal } = this.#context;
    const { intake, datasets, storeSpans } = this.#parts;
    await intake.storing(job.project_id, job.subject_id, async () => {
      signal.throwIfAborted();
      const experiment = this.#experiment();
      if (!datasets.rowSizes(placeOf(experiment), [row_id]).has(row_id)) return;
      if (spans.length > 0) await storeSpans(job.project_id, spans);
      await intake.store(job.project_id, experiment, [{ row_id, repetition, ...made }]);
      this.#done += 1;
    });
    if (performance.now() - this.#keptAt > PROGRESS_EVERY_MS) this.#keep();
  }

  /** @throws JobFailure when it takes no results any more */
  #experiment(): Experiment {
    const { project_id, subject_id } = this.#context.job;
    const found = this.#parts.experiments.find(project_id, subject_id);
    if (found === undefined) throw new JobFailure('The experiment was deleted');
    if (found.dataset.gone) throw new JobFailure('The dataset of the experiment was deleted');
    if (found.status === 'canceled') throw new JobFailure('The experiment was canceled');
    return found;
  }

  #keep(): void {
    this.#keptAt = performance.now();
    const unstored = this.#unstored === 0 ? {} : { unstored: this.#unstored };
    const checkpoint: RunCheckpoint = { cost: this.#cost.spent, ...unstored };
    this.#context.advance(this.#done, checkpoint);
  }
}

type MadeResult = Omit<GivenResult, 'row_id' | 'repetition'>;

const NOTHING_SAID = { trace_id: null, scores: {}, attempt: null };

function givenOf({ calls, output, failure }: Asked): MadeResult {
  const [first, last] = [calls[0], calls.at(-1)];
  return {
    ...NOTHING_SAID,
    output,
    error: failure && { message: failure.message, code: failure.code },
    ...(first && last && { times: { started_at: first.started_at, ended_at: last.ended_at } }),
  };
}

function tooLarge(): MadeResult {
  const message = `The filled prompt has more than ${MAX_BODY_BYTES} bytes`;
  return { ...NOTHING_SAID, output: null, error: { message, code: 'too_large' } };
}
