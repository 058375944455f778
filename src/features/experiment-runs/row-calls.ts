import { setTimeout as sleep } from 'node:timers/promises';
import { v5 as uuidv5 } from 'uuid';
import { ModelFailure, type ModelClient, type ModelRequest } from '../../engine/models/model-client.js';
import { resultId } from '../../engine/traces/model/experiment/result-id.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import { RETRIES, retryDelay, type Breaker, type Retry } from '../../engine/work/backoff.js';
import type { MissingResult } from '../experiments/missing-results.js';
import { callSpan } from '../judges/call-spans.js';
import { callModel, type ModelCall } from '../judges/model-call.js';
import type { RunPlan } from './run-plan.js';

/** Names the ids of calls, which are made of their result and their number: what is asked again replaces. */
const NAMESPACE = 'b8a3d1f6-5a0e-4b7d-9c55-2f1e0a6d7c94';

export interface RowCallsOptions {
  readonly client: Pick<ModelClient, 'complete'>;
  /** Most attempts of a call whose failures are retryable. */
  readonly maxAttempts: number;
  /** The waits between attempts; default: those of work. */
  readonly retry?: Retry;
}

/** What a model said of a row. */
export interface Asked {
  /** All attempts, in their order; one at least. */
  readonly calls: readonly ModelCall[];
  readonly output: string | null;
  readonly failure: ModelFailure | null;
}

interface Asking {
  readonly breaker: Breaker;
  readonly signal: AbortSignal;
  /** Called when a call was given up that the model may answer nevertheless. */
  readonly onAbandoned: () => void;
}

/** Asks for the result of a row; again after retryable failures, and not while a breaker holds calls back. */
export async function askForRow(
  { client, maxAttempts, retry = RETRIES.work }: RowCallsOptions,
  projectId: string,
  request: ModelRequest,
  { breaker, signal, onAbandoned }: Asking,
): Promise<Asked> {
  const calls: ModelCall[] = [];
  for (let attempt = 1; ; attempt += 1) {
    await sleep(breaker.waitMs(), undefined, { signal });
    const call = await callModel({ client, projectId }, request, signal);
    if (signal.aborted) onAbandoned();
    signal.throwIfAborted();
    calls.push(call);
    const { answer, failure } = call;
    if (failure?.retryable === true) breaker.failed(failure.retryAfterMs);
    else breaker.succeeded();
    if (failure === null) {
      const refusal = answer?.refusal ?? null;
      if (refusal === null) return { calls, output: answer?.content.toWellFormed() ?? null, failure };
      const message = `The model refused: ${refusal.slice(0, 500)}`.toWellFormed();
      return { calls, output: null, failure: new ModelFailure('refusal', message, { retryable: false }) };
    }
    if (!failure.retryable || attempt >= maxAttempts) return { calls, output: null, failure };
    await sleep(retryDelay(attempt, retry, failure.retryAfterMs), undefined, { signal });
  }
}

/** The calls as spans in the trace of their result, below its span. They are of the experiment, and none of its results. */
export function callSpansOf(
  experimentId: string,
  { row_id, repetition }: MissingResult,
  plan: Pick<RunPlan, 'prompt' | 'temperature'>,
  calls: readonly ModelCall[],
): Span[] {
  const result = resultId(experimentId, row_id, repetition);
  const { slug, version, id } = plan.prompt;
  return calls.map((call, index): Span => {
    const { answer } = call;
    const about = {
      experiment: { id: experimentId },
      attempt: index + 1,
      ...{ prompt_slug: slug, version, prompt_version_id: id },
      ...(plan.temperature === null ? {} : { temperature: plan.temperature }),
      ...(answer === null ? {} : { finish_reason: answer.finish_reason, refused: answer.refusal !== null }),
    };
    const place = {
      id: uuidv5(`${result}/${index}`, NAMESPACE),
      trace_id: result,
      name: `run ${slug}`,
      tags: {},
      about,
    };
    return { ...callSpan(place, call), parent_span_id: result };
  });
}
