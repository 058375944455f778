/** A message of a chat with a model. */
export interface ChatMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

export interface ModelRequest {
  readonly model: string;
  readonly temperature: number | null;
  readonly messages: readonly ChatMessage[];
  /** The answer is asked for as JSON of this schema; null: as text. */
  readonly schema: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> } | null;
}

export interface ModelAnswer {
  readonly content: string;
  /** As the endpoint names it. */
  readonly model: string;
  /** Why it ended, such as `stop` or `length`. */
  readonly finish_reason: string | null;
  /** What the model said instead of an answer, when it refused. */
  readonly refusal: string | null;
  /** Null when the endpoint did not say. */
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cached_tokens: number;
  } | null;
}

/** Why a call of a model brought no answer. Its message says so in general words: projects are shown it. */
export class ModelFailure extends Error {
  /** `429`, `500`, `timeout`, `connection`, `answer` (not what the protocol says) or `aborted`. */
  readonly code: string;
  /** Whether the same call may succeed later. */
  readonly retryable: boolean;
  /** How long the endpoint asked to be left alone, in milliseconds. */
  readonly retryAfterMs: number | null;
  /** What the endpoint itself said, without its key and cut: for the log alone. Null: it said nothing. */
  readonly detail: string | null;

  constructor(
    code: string,
    message: string,
    options: { readonly retryable: boolean; readonly retryAfterMs?: number | null; readonly detail?: string | null },
  ) {
    super(message);
    this.name = 'ModelFailure';
    this.code = code;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs ?? null;
    this.detail = options.detail ?? null;
  }
}

/**
 * The configured model endpoint. Calls are bounded in number, rate and time, and projects take turns; none is tried again
 * by itself.
 */
export interface ModelClient {
  /** The model that is asked when nothing names one; null: none is configured. */
  readonly defaultModel: string | null;
  /** @throws ModelFailure; of an aborted call its code is `aborted` */
  complete(projectId: string, request: ModelRequest, signal: AbortSignal): Promise<ModelAnswer>;
}
