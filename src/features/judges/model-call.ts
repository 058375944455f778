import type { Micros } from '../../engine/timestamp.js';
import { InvalidAnswer } from './answer-form.js';
import {
  ModelFailure,
  type ChatMessage,
  type ModelAnswer,
  type ModelClient,
  type ModelRequest,
} from '../../engine/models/model-client.js';

/** One call of a model with its answer or failure. */
export interface ModelCall {
  readonly request: ModelRequest;
  readonly started_at: Micros;
  readonly ended_at: Micros;
  readonly answer: ModelAnswer | null;
  readonly failure: ModelFailure | null;
}

/** Result of asking a model: the value read from its answer, or why there is none; and every call that was made. */
export interface Reply<T> {
  readonly outcome: T | null;
  /** Why there is no outcome; the code is `answer` when the model twice did not answer as asked. */
  readonly failure: ModelFailure | null;
  readonly calls: readonly ModelCall[];
}

/** The model endpoint, and the project for which it is asked. */
export interface ModelCaller {
  readonly client: Pick<ModelClient, 'complete'>;
  readonly projectId: string;
}

/** Calls a model once; a failure of the call is in the result, not thrown. */
export async function callModel(
  { client, projectId }: ModelCaller,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelCall> {
  const started_at = Date.now() * 1000;
  const done = (answer: ModelAnswer | null, failure: ModelFailure | null): ModelCall => ({
    request,
    started_at,
    ended_at: Math.max(started_at, Date.now() * 1000),
    answer,
    failure,
  });
  try {
    return done(await client.complete(projectId, request, signal), null);
  } catch (error) {
    if (error instanceof ModelFailure) return done(null, error);
    throw error;
  }
}

/**
 * Asks a model for an answer of a form; when the answer is not of that form, once more, with what was wrong.
 * @param read throws InvalidAnswer for what is not of the form
 */
export async function askModel<T>(
  caller: ModelCaller,
  request: ModelRequest,
  read: (text: string) => T,
  signal: AbortSignal,
): Promise<Reply<T>> {
  const calls: ModelCall[] = [];
  let asked = request;
  for (let last = false; ; last = true) {
    const call = await callModel(caller, asked, signal);
    calls.push(call);
    if (call.answer === null) return { outcome: null, failure: call.failure, calls };
    try {
      return { outcome: read(contentOf(call.answer)), failure: null, calls };
    } catch (error) {
      if (!(error instanceof InvalidAnswer)) throw error;
      if (last)
        return { outcome: null, failure: new ModelFailure('answer', error.message, { retryable: false }), calls };
      asked = repairRequest(request, call.answer.content, error.message);
    }
  }
}

function contentOf({ refusal, finish_reason, content }: ModelAnswer): string {
  if (refusal !== null) throw new InvalidAnswer(`the model refused: ${refusal.slice(0, 500)}`);
  if (finish_reason === 'length') throw new InvalidAnswer('the answer was truncated because it was too long');
  return content;
}

/** The request again, after an answer of the wrong form. */
function repairRequest(request: ModelRequest, answer: string, problem: string): ModelRequest {
  const again = `Your answer is not what was asked for: ${problem}. Answer again, with nothing but the JSON object.`;
  const messages: ChatMessage[] = [
    ...request.messages,
    { role: 'assistant', content: answer },
    { role: 'user', content: again },
  ];
  return { ...request, messages };
}
