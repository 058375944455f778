import OpenAI, { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai';
import {
  ModelFailure,
  type KeyRefusal,
  type ModelAnswer,
  type ModelClient,
  type ModelRequest,
} from './model-client.js';
import { nameForEndpoint, type NameForm } from './model-name.js';
import { isRetryableStatus } from '../work/retryable.js';
import { FairSemaphore } from '../work/fair-semaphore.js';
import { KeyRefusals } from './key-refusals.js';
import { createPace } from './pace.js';
import { tokensOf } from '../excerpt.js';
import type { Signals } from '../signals/signals.js';
import { jsonObject } from '../json-object.js';

export interface ModelEndpoint {
  readonly baseUrl: string;
  readonly apiKey: string | null;
  readonly model: string | null;
  readonly modelNames: NameForm;
  readonly timeoutSeconds: number;
  /** Calls in progress at once. */
  readonly concurrency: number;
  /** Null: no limit. */
  readonly ratePerMinute: number | null;
  /** Longer answers are cut to this length. */
  readonly maxAnswerCharacters: number;
  /** A larger answer fails the call. */
  readonly maxAnswerBytes: number;
}

/** Longest part of an endpoint's error message that is logged, in characters. */
const MAX_DETAIL = 2_000;
const MAX_MODEL = 512;
const MAX_FINISH_REASON = 100;
/** More tokens than any call has. */
const MAX_TOKENS = 1e12;
const MAX_RETRY_AFTER_MS = 10 * 60_000;

/** Calls of an OpenAI-compatible endpoint (`POST {baseUrl}/chat/completions`) by the library of OpenAI. */
export class OpenAiModelClient implements ModelClient {
  readonly defaultModel: string | null;
  readonly #library: OpenAI;
  readonly #endpoint: ModelEndpoint;
  readonly #observer: Signals;
  readonly #turns: FairSemaphore;
  readonly #pace: (signal: AbortSignal) => Promise<void>;
  readonly #refusals: KeyRefusals;

  constructor(endpoint: ModelEndpoint, observer: Signals) {
    this.#endpoint = endpoint;
    this.#observer = observer;
    this.defaultModel = endpoint.model;
    this.#refusals = new KeyRefusals(observer);
    this.#turns = new FairSemaphore('model calls', { atOnce: endpoint.concurrency });
    this.#pace = createPace(endpoint.ratePerMinute);
    this.#library = new OpenAI({
      baseURL: endpoint.baseUrl,
      // The library insists on one.
      apiKey: endpoint.apiKey ?? 'none',
      ...(endpoint.apiKey === null ? { defaultHeaders: { Authorization: null } } : {}),
      adminAPIKey: null,
      organization: null,
      project: null,
      // Attempts are counted, spread and kept by the queue.
      maxRetries: 0,
      logLevel: 'off',
      fetch: (url, init) => wholeAnswer(endpoint.maxAnswerBytes, url, init),
    });
  }

  refusedKey(projectId: string, model: string): KeyRefusal | null {
    return this.#refusals.of(projectId, model);
  }

  async complete(projectId: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    try {
      return await this.#turns.run(projectId, () => this.#inTurn(projectId, request, signal), signal);
    } catch (error) {
      // A call that leaves the queue fails with the reason of the signal.
      throw signal.aborted && !(error instanceof ModelFailure) ? givenUp() : error;
    }
  }

  async #inTurn(projectId: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    if (!signal.aborted) await this.#pace(signal).catch(() => undefined);
    if (signal.aborted) throw givenUp();
    const started = performance.now();
    const seconds = () => (performance.now() - started) / 1000;
    try {
      const answer = await this.#call(request, signal);
      this.#refusals.accepted(request.model);
      const { input_tokens = 0, output_tokens = 0 } = answer.usage ?? {};
      this.#observer.modelCalled({
        status: 'ok',
        seconds: seconds(),
        inputTokens: input_tokens,
        outputTokens: output_tokens,
      });
      return answer;
    } catch (error) {
      if (error instanceof ModelFailure) {
        const { code, detail } = error;
        this.#observer.modelCalled({ status: code, seconds: seconds(), inputTokens: 0, outputTokens: 0 });
        if (detail !== null && !this.#refusals.refused(projectId, request.model, error))
          this.#observer.modelCallFailed({ project: projectId, model: request.model, code, detail });
      }
      throw error;
    }
  }

  async #call(request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer> {
    const { timeoutSeconds, baseUrl, modelNames } = this.#endpoint;
    const model = nameForEndpoint(baseUrl, modelNames, request.model);
    // This time limit covers the whole answer; the library's own ends with the first byte.
    const call = new AbortController();
    let late = false;
    const deadline = setTimeout(() => {
      late = true;
      call.abort();
    }, timeoutSeconds * 1000);
    const giveUp = () => {
      call.abort();
    };
    signal.addEventListener('abort', giveUp, { once: true });
    try {
      const completion: unknown = await this.#library.chat.completions.create(toLibrary({ ...request, model }), {
        signal: call.signal,
        timeout: timeoutSeconds * 1000 + 5_000,
      });
      return toAnswer(completion, model, this.#endpoint.maxAnswerCharacters);
    } catch (error) {
      const begun = wasBegun(error) ? estimatedBill(request, model) : null;
      if (signal.aborted) throw givenUp(error instanceof ModelFailure ? error.billed : begun);
      if (late)
        throw new ModelFailure('timeout', `The model endpoint did not respond within ${timeoutSeconds} s`, {
          retryable: true,
          detail: `No complete response within ${timeoutSeconds} s`,
          billed: error instanceof ModelFailure ? error.billed : begun,
        });
      throw this.#failureOf(error, model, begun);
    } finally {
      clearTimeout(deadline);
      signal.removeEventListener('abort', giveUp);
    }
  }

  /** @param begun what is to be paid for a call that the endpoint worked on */
  #failureOf(error: unknown, model: string, begun: ModelAnswer | null): ModelFailure {
    if (error instanceof ModelFailure) return error;
    if (error instanceof APIConnectionError)
      return new ModelFailure('connection', 'Cannot reach the model endpoint', {
        retryable: true,
        detail: this.#clean(rootOf(error)),
        billed: begun,
      });
    if (error instanceof APIError && typeof error.status === 'number') {
      const status: number = error.status;
      return new ModelFailure(String(status), messageOf(status, error, model), {
        retryable: isRetryableStatus(status),
        detail: this.#clean(error.message),
        retryAfterMs: retryAfterOf(error.headers as Headers),
        // Some repeat the status there, as a number.
        endpointCode: typeof error.code === 'string' && error.code !== '' ? error.code : null,
      });
    }
    return new ModelFailure('answer', 'Cannot read the response of the model endpoint', {
      retryable: true,
      detail: this.#clean(rootOf(error)),
    });
  }

  /** Endpoints may repeat the key they were given. */
  #clean(text: string): string {
    const { apiKey } = this.#endpoint;
    const clean = apiKey === null ? text : text.replaceAll(apiKey, '[redacted]');
    return clean.slice(0, MAX_DETAIL).toWellFormed();
  }
}

/** @param billed null: the call was not sent */
function givenUp(billed: ModelAnswer | null = null): ModelFailure {
  return new ModelFailure('aborted', 'The call was aborted', { retryable: true, billed });
}

/** An answer that began, and was not read to its end: it is too large, or its connection ended. */
class UnreadAnswer extends Error {}

/** Whether a call that failed was sent, and not refused: the endpoint bills it, although nothing says for how much. */
function wasBegun(error: unknown): boolean {
  if (error instanceof APIUserAbortError || error instanceof APIConnectionTimeoutError) return true;
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof UnreadAnswer) return true;
  return false;
}

/** What is billed at least for a call without an answer: what was sent, estimated. */
function estimatedBill({ messages, schema }: ModelRequest, model: string): ModelAnswer {
  const ofSchema = schema === null ? 0 : tokensOf(JSON.stringify(schema.schema));
  const input_tokens = messages.reduce((sum, { content }) => sum + tokensOf(content), ofSchema);
  const usage = { input_tokens, output_tokens: 0, cached_tokens: 0 };
  return { content: '', model, finish_reason: null, refusal: null, usage };
}

/** What the endpoint said with its status. */
type Said = Pick<APIError, 'code' | 'message'>;

/** Describes a refusal to a project in general words: the endpoint's own may name its operator's account, hosts or limits. */
function messageOf(status: number, error: Said, model: string): string {
  if (status === 429) return 'The model endpoint is rate limiting requests (429)';
  if (status === 401) return `The model endpoint rejected this server's key (${status})`;
  if (status === 404)
    return isAboutModel(error, model)
      ? `The model endpoint does not know the model "${model.slice(0, MAX_MODEL)}" (404)`
      : 'The model endpoint has nothing at the requested path (404): set JUDGE_LLM_BASE_URL to the address before /chat/completions';
  return status >= 500
    ? `The model endpoint failed (${status})`
    : `The model endpoint rejected the request (${status})`;
}

/** Whether a 404 says that the model is not there, and not that the path is not. */
function isAboutModel({ code, message }: Said, model: string): boolean {
  return code === 'model_not_found' || message.toLowerCase().includes(model.toLowerCase());
}

function toLibrary({ model, temperature, messages, schema }: ModelRequest) {
  return {
    model,
    messages: messages.map(({ role, content }) => ({ role, content })),
    ...(temperature === null ? {} : { temperature }),
    ...(schema === null
      ? {}
      : {
          response_format: {
            type: 'json_schema' as const,
            json_schema: { name: schema.name, schema: { ...schema.schema }, strict: true },
          },
        }),
  };
}

/** Reads a completion. "Compatible" servers differ in every detail, so each field is checked. */
function toAnswer(completion: unknown, asked: string, maxCharacters: number): ModelAnswer {
  const { choices, model, usage } = jsonObject(completion);
  const choice = Array.isArray(choices) ? jsonObject(choices[0]) : {};
  const message = jsonObject(choice['message']);
  const { content, refusal } = message;
  const named = typeof model === 'string' && model !== '' ? model.slice(0, MAX_MODEL) : asked;
  const used = usageOf(usage);
  if (typeof content !== 'string' && typeof refusal !== 'string')
    throw new ModelFailure('answer', "The model endpoint's response contains no message", {
      retryable: true,
      detail: 'The response contains no message',
      billed: used && { content: '', model: named, finish_reason: null, refusal: null, usage: used },
    });
  const text = typeof content === 'string' ? content : '';
  const finish = choice['finish_reason'];
  return {
    content: text.slice(0, maxCharacters),
    model: named,
    finish_reason:
      text.length > maxCharacters ? 'length' : typeof finish === 'string' ? finish.slice(0, MAX_FINISH_REASON) : null,
    refusal: typeof refusal === 'string' && refusal !== '' ? refusal.slice(0, maxCharacters) : null,
    usage: used,
  };
}

function usageOf(usage: unknown): ModelAnswer['usage'] {
  const { prompt_tokens, completion_tokens, prompt_tokens_details } = jsonObject(usage);
  const input = countOf(prompt_tokens);
  const output = countOf(completion_tokens);
  if (input === null || output === null) return null;
  return {
    input_tokens: input,
    output_tokens: output,
    cached_tokens: countOf(jsonObject(prompt_tokens_details)['cached_tokens']) ?? 0,
  };
}

function countOf(value: unknown): number | null {
  return typeof value === 'number' && value >= 0 && value <= MAX_TOKENS ? value : null;
}

/** Seconds or a date, as HTTP has it. */
function retryAfterOf(headers: Headers | undefined): number | null {
  const text = headers?.get('retry-after');
  if (text === null || text === undefined) return null;
  const ms = /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.min(MAX_RETRY_AFTER_MS, Math.max(0, ms)) : null;
}

/** The first cause says what happened; what is around it says that something did. */
function rootOf(error: unknown): string {
  let root = error;
  while (root instanceof Error && root.cause !== undefined) root = root.cause;
  return root instanceof Error ? root.message || root.name : String(root);
}

/** Reads the answer to its end, so that the signal covers it, and refuses one that never ends. */
async function wholeAnswer(maxBytes: number, url: string | URL | Request, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) throw new Error(`The response is larger than ${maxBytes} bytes`);
      chunks.push(chunk);
    }
  } catch (error) {
    // The library knows an abort by the error itself; of a refusal, nothing is billed.
    if (!response.ok || init?.signal?.aborted === true) throw error;
    throw new UnreadAnswer('The response was not read to its end', { cause: error });
  }
  const { status, statusText, headers } = response;
  return new Response(size === 0 ? null : Buffer.concat(chunks), { status, statusText, headers });
}
