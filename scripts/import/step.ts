import type { SpanSample } from './span-sample.js';
import type { Tally } from './tally.js';

/** What a source says next, in its order. */
export type Step =
  | {
      readonly type: 'spans';
      readonly spans: readonly SentSpan[];
      /** Whether they were there before, elsewhere in the source: they count once. */
      readonly repeated?: boolean;
    }
  | { readonly type: 'request'; readonly request: SentRequest | SentItems }
  /** Something that is not taken. */
  | { readonly type: 'left'; readonly left: NotTaken }
  /** How far the source is read, in the unit of {@link Source.size}. */
  | { readonly type: 'progress'; readonly done: number }
  /** What was counted before and is read once more. */
  | { readonly type: 'uncount'; readonly tally: Partial<Tally> }
  /** Whatever came before is complete: once it is stored, the import may go on from here. */
  | { readonly type: 'cursor'; readonly cursor: unknown };

/** A span as `POST /spans` takes it. */
export interface SentSpan {
  readonly id: string;
  readonly trace_id: string;
  readonly parent_span_id?: string | null;
  readonly session_id?: string | null;
  readonly session_name?: string | null;
  readonly name: string;
  readonly kind: string;
  readonly status?: 'unset' | 'ok' | 'error';
  readonly started_at: string;
  readonly ended_at?: string | null;
  readonly cost?: number | null;
  readonly input_data?: string | null;
  readonly output_data?: string | null;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly tags?: Readonly<Record<string, string>>;
  readonly trace_tags?: Readonly<Record<string, string>>;
  readonly session_tags?: Readonly<Record<string, string>>;
  readonly error_code?: string | null;
  readonly error_message?: string | null;
  readonly error_stack?: string | null;
}

/** A request other than one of spans. */
export interface SentRequest {
  readonly path: string;
  readonly body: string | Buffer;
  readonly contentType?: string;
  /** What is in it. */
  readonly tally: Partial<Tally>;
  /** What to call it where it is refused. */
  readonly name: string;
  /** Nothing may be under way beside it. */
  readonly alone?: boolean;
  /** Statuses of refusals that are none: it is there already. */
  readonly accepts?: readonly number[];
  /** The parts that the server refused, by its answer. */
  readonly refusals?: (answer: unknown) => readonly Refusal[];
  /** Smaller requests with the same, for a server that takes no such large ones. */
  readonly split?: () => readonly SentRequest[];
}

/** A request with a list of things, of which the server takes all or none, and says which of them it does not take. */
export interface SentItems {
  readonly path: string;
  readonly items: readonly SentItem[];
  /** Nothing may be under way beside it. */
  readonly alone?: boolean;
}

export interface SentItem {
  readonly value: unknown;
  readonly name: string;
  readonly tally: Partial<Tally>;
}

/** A part of a request that the server refused alone. */
export interface Refusal extends NotTaken {
  /** What was counted for it. */
  readonly tally: Partial<Tally>;
}

/** Something that the source has and the server does not get. */
export interface NotTaken {
  /** What and where: a line of a file, an id. */
  readonly what: string;
  readonly why: string;
  /** Default: 1. */
  readonly count?: number;
}

/** Where the data comes from. */
export interface Source {
  /** By which it is found again: another one begins at its start. */
  readonly identity: string;
  /** The tag `imported_from` of its spans, by which they are counted afterwards; null: they are sent as they are. */
  readonly mark: string | null;
  /** Some of what was read, by which spans without a mark are counted. */
  readonly sample?: SpanSample;
  /** How much there is to read, and in which unit; null: nobody knows before. */
  readonly size: { readonly total: number; readonly unit: string } | null;
  /** Names of what was found, for the summary. */
  readonly found: readonly string[];
  /** @param cursor where an earlier run ended; null: at the beginning @param project id of the project that it goes to */
  read(cursor: unknown, project: string): AsyncGenerator<Step>;
}

/** The tag that marks what was imported, by its source. */
export const MARK = 'imported_from';
