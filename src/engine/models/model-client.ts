import type { Micros } from '../timestamp.js';

/** Who says a message of a chat with a model. */
export const MESSAGE_ROLES = ['system', 'user', 'assistant'] as const;

/** A message of a chat with a model. */
export interface ChatMessage {
  readonly role: (typeof MESSAGE_ROLES)[number];
  readonly content: string;
}

export interface ModelRequest {
  readonly model: string;
  readonly temperature: number | null;
  readonly messages: readonly ChatMessage[];
  /** JSON Schema that the answer must have; null: it is text. */
  readonly schema: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> } | null;
}

export interface ModelAnswer {
  readonly content: string;
  /** Model, as the endpoint names it. */
  readonly model: string;
  /** Why the answer ended, such as `stop` or `length`. */
  readonly finish_reason: string | null;
  /** Refusal of the model, in place of an answer. */
  readonly refusal: string | null;
  /** Tokens used; null when the endpoint did not say. */
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cached_tokens: number;
  } | null;
}

/** Why a call of a model brought no answer. Its message says so in general words: projects are shown it. */
export class ModelFailure extends Error {
  /** Code: an HTTP status such as `429`, `timeout`, `connection`, `answer` (against the protocol) or `aborted`. */
  readonly code: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** Wait that the endpoint asked for, in milliseconds; null: none. */
  readonly retryAfterMs: number | null;
  /** The endpoint's own words, cut and without its key, for the log alone; null: none. */
  readonly detail: string | null;
  /** The endpoint's own code of the error, such as `invalid_api_key`; null: none. */
  readonly endpointCode: string | null;
  /** What has to be paid for all the same, with tokens as the endpoint stated them, or estimated; null: nothing, as far as is known. */
  readonly billed: ModelAnswer | null;

  constructor(
    code: string,
    message: string,
    options: {
      readonly retryable: boolean;
      readonly retryAfterMs?: number | null;
      readonly detail?: string | null;
      readonly endpointCode?: string | null;
      readonly billed?: ModelAnswer | null;
    },
  ) {
    super(message);
    this.name = 'ModelFailure';
    this.code = code;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.detail = options.detail ?? null;
    this.endpointCode = options.endpointCode ?? null;
    this.billed = options.billed ?? null;
  }
}

/** The endpoint does not accept the server's key, for a model or at all. */
export interface KeyRefusal {
  readonly status: number;
  /** When it was refused first. */
  readonly since: Micros;
}

/**
 * The configured model endpoint. Calls are bounded in number, rate and time, and projects take turns; none is tried again
 * by itself.
 */
export interface ModelClient {
  /** The model that is asked when nothing names one; null: none is configured. */
  readonly defaultModel: string | null;
  /** The refusal of the server's key that the project's calls of a model met; null: none, or it was accepted since. */
  refusedKey(projectId: string, model: string): KeyRefusal | null;
  /** @throws ModelFailure; of an aborted call its code is `aborted` */
  complete(projectId: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;
}
