/** What a history's client sends: request bodies of the interface, as plain JSON, and the deletions in between. */

export type SentTags = Readonly<Record<string, string | number | boolean | null>>;

export interface SentSpan {
  readonly id: string;
  readonly trace_id: string;
  readonly name: string;
  readonly started_at: string;
  readonly ended_at?: string | null | undefined;
  readonly duration_ms?: number | null | undefined;
  readonly kind?: string | null | undefined;
  readonly status?: 'unset' | 'ok' | 'error' | null | undefined;
  readonly cost?: number | null | undefined;
  readonly parent_span_id?: string | null | undefined;
  readonly session_id?: string | null | undefined;
  readonly session_name?: string | null | undefined;
  readonly session?: {
    readonly id: string | undefined;
    readonly name?: string | null | undefined;
    readonly tags?: SentTags | null | undefined;
  } | null;
  readonly input_data?: unknown;
  readonly output_data?: unknown;
  readonly attributes?: Readonly<Record<string, unknown>> | null | undefined;
  readonly tags?: SentTags | null | undefined;
  readonly trace_tags?: SentTags | null | undefined;
  readonly session_tags?: SentTags | null | undefined;
  readonly error_code?: string | null | undefined;
  readonly error_message?: string | null | undefined;
  readonly error_stack?: string | null | undefined;
  readonly code_filepath?: string | null | undefined;
  readonly code_lineno?: number | null | undefined;
}

export interface SentTrace {
  readonly id: string;
  readonly session_id: string;
  readonly name: string;
  readonly started_at: string;
  readonly ended_at?: string | null | undefined;
  readonly status?: 'unset' | 'ok' | 'error' | null | undefined;
  readonly duration_ms?: number | null | undefined;
  readonly cost?: number | null | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | null | undefined;
  readonly tags?: SentTags | null | undefined;
}

export interface SentSession {
  readonly id: string;
  readonly name?: string | null | undefined;
  readonly attributes?: Readonly<Record<string, unknown>> | null | undefined;
  readonly tags?: SentTags | null | undefined;
}

export interface SentScore {
  readonly entity_type: 'span' | 'trace' | 'session';
  readonly entity_id: string;
  readonly name: string;
  readonly value: number | boolean | string;
  readonly author: string;
}

/** One POST. */
export type Post =
  | { readonly to: 'spans'; readonly body: readonly SentSpan[] }
  | { readonly to: 'traces'; readonly body: readonly SentTrace[] }
  | { readonly to: 'sessions'; readonly body: readonly SentSession[] }
  | { readonly to: 'scores'; readonly body: readonly SentScore[] };

export type Listed = 'spans' | 'traces' | 'sessions';

/** One step of a history. */
export type Step =
  | ({ readonly do: 'post' } & Post)
  /** Sends an earlier POST once more, byte for byte; `nth` counts from the newest, as far as there are any. */
  | { readonly do: 'retry'; readonly nth: number }
  /** POSTs of several clients at once, while others read. */
  | { readonly do: 'together'; readonly posts: readonly Post[] }
  | { readonly do: 'delete'; readonly what: 'span' | 'trace' | 'session'; readonly id: string }
  /** Deletes a score; `nth` counts those that are there, in the order in which they were first given. */
  | { readonly do: 'unscore'; readonly nth: number }
  | { readonly do: 'read'; readonly list: Listed };
