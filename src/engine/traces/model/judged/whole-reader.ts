import type { JudgeFilters } from './filters.js';
import type { JudgedSpan, SpanPlace } from './span-reader.js';
import type { WholeKind } from './whole.js';
import type { PromptIdentity } from '../prompts/completion.js';
import type { Micros } from '../../../timestamp.js';

export type { JudgedWhole, WholeKind } from './whole.js';

/** How much of a whole is shown. */
export interface WholeShape {
  readonly kind: WholeKind;
  /** Most characters of the outline. */
  readonly maxCharacters: number;
  /** Kinds of spans whose inputs and outputs are shown; empty: any. Errors are shown of all. */
  readonly kinds: readonly string[];
  /** Whether the outline names spans by id, for a reader who may ask for more of them; default: it does not. */
  readonly withIds?: boolean;
}

/** Filters that a span of a whole is to match. */
export interface WholeFilters {
  readonly filters: JudgeFilters;
  /** What the filters' `prompt_slug` means. Null where they have one: there is no such prompt, and nothing matches. */
  readonly prompt: PromptIdentity | null;
}

/** A whole, and a span of it. */
export interface FoundWhole {
  /** Lower-case UUID of the trace or session. */
  readonly id: string;
  readonly span: SpanPlace;
}

/** A whole that is there, without its texts; `span` is the one that stands for it. */
export interface WholeOutline extends FoundWhole {
  /** How many spans it has. */
  readonly spans: number;
  /** When the last of its spans arrived. */
  readonly arrived_at: Micros;
  /**
   * Whether a span of it matches the filters, and is finished and has content; null: none were asked for, or they are too long
   * for one question.
   */
  readonly matches: boolean | null;
  /** Whether one of its spans is a call of the server itself: no judge evaluates it. */
  readonly internal: boolean;
  /** Whether it is of experiments: a trace with a span of one, a session of such traces alone. No judge evaluates it by itself. */
  readonly tried: boolean;
}

/** Reads of traces and sessions for judges. @throws (from every method) DomainError `unavailable` */
export interface WholeReader {
  /**
   * Wholes by id: each as the span that stands for it, with `whole`. Of a trace, that is the root that started first, else the
   * span that did; of a session, that of its first trace. One without any span is missing. Texts are cut in the store: memory
   * is bounded by `maxCharacters`, whatever the spans hold. Sees everything that was acknowledged before.
   */
  readWholes(projectId: string, ids: readonly string[], shape: WholeShape): Promise<Map<string, JudgedSpan>>;
  /**
   * Which wholes are there, and what is known of them without texts; sees everything that was acknowledged before.
   * @param asked null: whether they match is not asked
   */
  outlines(
    projectId: string,
    kind: WholeKind,
    ids: readonly string[],
    asked?: WholeFilters | null,
  ): Promise<Map<string, WholeOutline>>;
  /**
   * Wholes of which a finished span with content matches the filters, each once, with the latest of these spans: the whole
   * whose one started last comes first. Calls of the server itself are left out. Sees everything acknowledged before.
   * @throws DomainError `invalid` when the filters are too long for one question
   */
  newestWholes(projectId: string, kind: WholeKind, asked: WholeFilters, limit: number): Promise<FoundWhole[]>;
  /** The sessions of traces that have one, by trace. Sees everything acknowledged before. */
  sessionsOf(projectId: string, traceIds: readonly string[]): Promise<Map<string, string>>;
}
