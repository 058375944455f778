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
