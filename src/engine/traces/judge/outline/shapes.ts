import type { Micros } from '../../../timestamp.js';

/** How long a text of a span is. */
export interface TextSize {
  /** Characters, as code points. */
  readonly length: number;
  /** Line breaks among them. */
  readonly breaks: number;
}

export const LABELS = ['input', 'output', 'error'] as const;
export type Label = (typeof LABELS)[number];

/** A span as an outline knows it before its texts are read. */
export interface ShapedSpan {
  /** Lower-case UUID. */
  readonly id: string;
  readonly trace_id: string;
  readonly parent: string | null;
  /** The name, or its beginning. */
  readonly name: string;
  readonly kind: string;
  readonly started_at: Micros;
  readonly duration_ms: number | null;
  readonly failed: boolean;
  /** Sizes of the texts that are to be shown; null: the span has none, or it is not to be shown. */
  readonly texts: Readonly<Record<Label, TextSize | null>>;
}

/** A text of a span, or its two ends; the whole text stands in `head` if `tail` is empty. */
export interface TextEnds {
  readonly head: string;
  readonly tail: string;
}

/** Texts of spans, by the ids of these. */
export type Texts = ReadonlyMap<string, Readonly<Partial<Record<Label, TextEnds>>>>;

/** A text that an outline shows, and how many characters it may take there. */
export interface WantedText {
  readonly span: ShapedSpan;
  readonly label: Label;
  readonly characters: number;
}

/** An outline as far as it can be made without texts. */
export interface OutlinePlan {
  readonly wanted: readonly WantedText[];
  /** Spans of which it shows something. */
  readonly shown: readonly ShapedSpan[];
  /** The outline. @param texts the wanted ones; one that is missing counts as left out */
  write(texts: Texts): string;
}
