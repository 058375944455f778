import type { JudgeFilters } from './filters.js';
import type { JudgedSpan } from './span-reader.js';
import type { Micros } from '../../../timestamp.js';

/** What a judge may be shown as a whole. */
export type WholeKind = 'trace' | 'session';

/** A trace, or the conversation of a session, as a judge gets to see it. */
export interface JudgedWhole {
  readonly kind: WholeKind;
  /** Lower-case UUID of the trace or session. */
  readonly id: string;
  /** Its spans as text, cut to the budget; what was left out is said in it. */
  readonly outline: string;
  /** How many spans it has, shown or not. */
  readonly spans: number;
  /** When the last of its spans arrived. */
  readonly arrived_at: Micros;
  /** Ids of the spans that the outline shows anything of. */
  readonly span_ids: readonly string[];
  /** Their traces. */
  readonly trace_ids: readonly string[];
}

/** How much of a whole is shown. */
export interface WholeShape {
  readonly kind: WholeKind;
  /** Most characters of the outline. */
  readonly maxCharacters: number;
  /** Kinds of spans whose inputs and outputs are shown; empty: any. Errors are shown of all. */
  readonly kinds: readonly string[];
}

/** A whole that is there, without its texts. */
export interface WholeOutline {
  readonly id: string;
  /** When the last of its spans arrived. */
  readonly arrived_at: Micros;
  /** Whether one of its spans matches the filters that were asked for. */
  readonly matches: boolean;
  /** Whether one of its spans is a call of the server itself: no judge evaluates it. */
  readonly internal: boolean;
}

/** @throws (from every method) DomainError `unavailable` */
export interface WholeReader {
  /**
   * Wholes by id: each as the span that stands for it, with `whole`. Of a trace, that is the root that started first, else the
   * span that did; of a session, that of its first trace. One without any span is missing. Texts are cut in the store: memory
   * is bounded by `maxCharacters`, whatever the spans hold. Sees everything that was acknowledged before.
   */
  readWholes(projectId: string, ids: readonly string[], shape: WholeShape): Promise<Map<string, JudgedSpan>>;
  /** Which wholes are there, and what is known of them without texts; sees everything that was acknowledged before. */
  outlines(
    projectId: string,
    kind: WholeKind,
    ids: readonly string[],
    filters: JudgeFilters,
  ): Promise<Map<string, WholeOutline>>;
  /**
   * Ids of wholes of which a span matches the filters as `SpanReader.newest` finds them, the one whose matching span started
   * last first; each once. Sees everything acknowledged before.
   */
  newestWholes(projectId: string, kind: WholeKind, filters: JudgeFilters, limit: number): Promise<string[]>;
}
