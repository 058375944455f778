import { setTimeout as sleep } from 'node:timers/promises';
import { v5 as uuidv5 } from 'uuid';
import { JobFailure, JobPaused, type Job } from '../../engine/work/job.js';
import { RETRIES, retryDelay, type Retry } from '../../engine/work/backoff.js';
import { aboutShown, callSpan } from '../judges/call-spans.js';
import type { Examples } from '../judges/examples.js';
import type { Verdict } from '../judges/evaluation.js';
import type { Instruction } from '../judges/instruction.js';
import type { Judge } from '../judges/judge.js';
import { JUDGE_TAG } from '../../engine/schema/own-calls.js';
import type { JudgeCaller } from '../judges/judge-caller.js';
import { askModel, callModel, type ModelCall, type ModelCaller, type Reply } from '../judges/model-call.js';
import { ModelFailure, type ModelClient, type ModelRequest } from '../../engine/models/model-client.js';
import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import { priceSpan, type PriceModelCall } from '../../engine/traces/model/span/pricing.js';
import type { Span } from '../../engine/traces/model/span/span.js';

export interface ModelTrialsOptions {
  readonly client: ModelClient;
  readonly caller: Pick<JudgeCaller, 'evaluate'>;
  /** Stores calls as spans of a project. @throws DomainError */
  readonly storeSpans: (projectId: string, spans: readonly Span[]) => Promise<unknown>;
  readonly price: PriceModelCall;
  /** Whether calls of a project wait. @throws DomainError `unavailable` */
  readonly isPaused: (projectId: string) => boolean;
  /** Most attempts of a call whose failures are retryable. */
  readonly maxAttempts: number;
  /** The waits between attempts; default: those of work. */
  readonly retry?: Retry;
}

/** Calls of models, with the tokens that they used and their cost. */
export interface Spent {
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Cost in US dollars; null when some call's price is not known. */
  readonly cost: number | null;
}

/** Result of a trial: the outcome, or why there is none. */
export interface Trial<T> {
  readonly outcome: T | null;
  readonly failure: string | null;
  readonly spent: Spent;
}

/** The part of a verdict that a report shows. */
export type TrialVerdict = Pick<Verdict, 'evaluation_result' | 'evaluation_reason' | 'score'>;

const NAMESPACE = '0b2f8f0e-6a53-5d1c-8a52-54d6a3c7e1b9';
/** The trace that the calls of a job are in. */
export function jobTraceId(jobId: string): string {
  return uuidv5(jobId, NAMESPACE);
}

/** Failed trials in a row, after which the rest would fail, too. */
const MAX_FAILURES = 10;
/** Codes of failures that show that the endpoint is not set up for such calls at all. */
const HOPELESS = new Set(['401', '403', '404', 'setup']);

/** Calls models for jobs: each call is stored as a span, one trace per job, and repeated after retryable failures. */
export class ModelTrials {
  readonly #options: ModelTrialsOptions;

  constructor(options: ModelTrialsOptions) {
    this.#options = options;
  }

  /** Trials of a run of a job. @param tag of the stored calls; its value is the id of the job */
  of(job: Job, tag: string, signal: AbortSignal): JobTrials {
    return new JobTrials(this.#options, job, tag, signal);
  }
}

/**
 * The trials of one run of a job. Each method throws JobFailure when no trial will succeed, JobPaused when calls wait, DomainError
 * `unavailable` or `overloaded` when a store does not answer, and the reason of the signal when that is aborted.
 */
export class JobTrials {
  readonly #options: ModelTrialsOptions;
  readonly #job: Job;
  readonly #caller: ModelCaller;
  readonly #tag: string;
  readonly #signal: AbortSignal;
  #failuresInRow = 0;

  constructor(options: ModelTrialsOptions, job: Job, tag: string, signal: AbortSignal) {
    this.#options = options;
    this.#job = job;
    this.#caller = { client: options.client, projectId: job.project_id };
    this.#tag = tag;
    this.#signal = signal;
  }

  /** Has a judge evaluate a span, with these examples. The result does not become an evaluation. */
  judge(
    step: string,
    asked: {
      readonly judge: Judge;
      readonly instruction: Instruction;
      readonly span: JudgedSpan;
      readonly examples: Examples;
    },
  ): Promise<Trial<TrialVerdict>> {
    const { judge, instruction, span, examples } = asked;
    const about = { judge_id: judge.id, span_id: span.id, ...aboutShown(examples.span_ids) };
    return this.#persist(step, `judge ${judge.name}`, about, async () => {
      const { verdict, failure, calls } = await this.#options.caller.evaluate(judge, span, this.#signal, {
        instruction,
        examples,
      });
      if (verdict === null) return { outcome: null, failure, calls };
      const { evaluation_result, evaluation_reason, score } = verdict;
      return { outcome: { evaluation_result, evaluation_reason, score }, failure: null, calls };
    });
  }

  /** Asks a model for a text. */
  complete(
    step: string,
    name: string,
    about: Readonly<Record<string, unknown>>,
    request: ModelRequest,
  ): Promise<Trial<string>> {
    return this.#persist(step, name, about, async () => {
      const call = await callModel(this.#caller, request, this.#signal);
      const { answer, failure } = call;
      if (answer === null) return { outcome: null, failure, calls: [call] };
      if (answer.refusal === null) return { outcome: answer.content, failure: null, calls: [call] };
      const refusal = new ModelFailure('refusal', `The model refused: ${answer.refusal.slice(0, 500)}`, {
        retryable: false,
      });
      return { outcome: null, failure: refusal, calls: [call] };
    });
  }

  /** Asks a model for an answer of a form, as judges do. @param read throws InvalidAnswer */
  ask<T>(
    step: string,
    name: string,
    about: Readonly<Record<string, unknown>>,
    request: ModelRequest,
    read: (text: string) => T,
  ): Promise<Trial<T>> {
    return this.#persist(step, name, about, () => askModel(this.#caller, request, read, this.#signal));
  }

  async #persist<T>(
    step: string,
    name: string,
    about: Readonly<Record<string, unknown>>,
    attempt: () => Promise<Reply<T>>,
  ): Promise<Trial<T>> {
    const { maxAttempts, isPaused, retry = RETRIES.work } = this.#options;
    const spans: Span[] = [];
    for (let number = 1; ; number += 1) {
      if (isPaused(this.#job.project_id)) throw new JobPaused();
      const { outcome, failure, calls } = await attempt();
      this.#signal.throwIfAborted();
      spans.push(...(await this.#record(step, name, { ...about, attempt: number }, calls)));
      if (failure === null) this.#failuresInRow = 0;
      const again = failure !== null && failure.retryable && number < maxAttempts;
      if (!again) return { outcome, failure: this.#noted(failure), spent: spentOn(spans) };
      await sleep(retryDelay(number, retry, failure.retryAfterMs), undefined, { signal: this.#signal });
    }
  }

  #noted(failure: ModelFailure | null): string | null {
    if (failure === null) return null;
    this.#failuresInRow += 1;
    if (HOPELESS.has(failure.code)) throw new JobFailure(failure.message);
    if (this.#failuresInRow >= MAX_FAILURES)
      throw new JobFailure(`${MAX_FAILURES} trials in a row failed, the last one with: ${failure.message}`);
    return failure.message;
  }

  /** Stores the calls of a step as spans. Ids are derived from the step: a repetition after a crash replaces them. */
  async #record(
    step: string,
    name: string,
    about: Readonly<Record<string, unknown>> & { readonly attempt: number },
    calls: readonly ModelCall[],
  ): Promise<Span[]> {
    if (calls.length === 0) return [];
    const { storeSpans, price } = this.#options;
    const { id: jobId, project_id } = this.#job;
    const judgeId = about['judge_id'];
    const spans = calls.map((call, index) => {
      const place = {
        id: uuidv5(`${jobId}/${step}/${about.attempt}/${index}`, NAMESPACE),
        trace_id: jobTraceId(jobId),
        name,
        tags: { [this.#tag]: jobId, ...(typeof judgeId === 'string' ? { [JUDGE_TAG]: judgeId } : {}) },
        about: { ...about, job_id: jobId },
      };
      return callSpan(place, call);
    });
    await storeSpans(project_id, spans);
    return spans.map((span) => priceSpan(span, project_id, price));
  }
}

/** Sum of the calls, tokens and costs of several trials. */
export function sumOf(spents: readonly Spent[]): Spent {
  const total = (amount: (spent: Spent) => number) => spents.reduce((sum, spent) => sum + amount(spent), 0);
  return {
    calls: total(({ calls }) => calls),
    input_tokens: total(({ input_tokens }) => input_tokens),
    output_tokens: total(({ output_tokens }) => output_tokens),
    cost: spents.some(({ cost }) => cost === null) ? null : total(({ cost }) => cost ?? 0),
  };
}

function spentOn(spans: readonly Span[]): Spent {
  const tokens = (span: Span, name: string) => {
    const count = span.attributes[name];
    return typeof count === 'number' ? count : 0;
  };
  return sumOf(
    spans.map((span) => ({
      calls: 1,
      input_tokens: tokens(span, 'inputTokens'),
      output_tokens: tokens(span, 'outputTokens'),
      // A failed call without a price costs nothing that is known.
      cost: span.cost ?? (span.error_code === null ? null : 0),
    })),
  );
}
