import type { PlacedSpan, SpanPlace, SpanRevision } from './prices/calculated-spans.js';

/** The older spans of a project, whose columns are filled in. */
export interface Backfill {
  readonly projectId: string;
  /** Versions that clients wrote up to here are older than the columns. */
  readonly upTo: number;
  /** The last span that is done; null: none yet. */
  readonly after: SpanPlace | null;
  readonly done: boolean;
  /** How often this was noted. */
  readonly step: number;
}

/** A look at the older spans of a project; whatever a client writes or deletes after it was opened wins. */
export interface OlderSpansSnapshot extends SpanRevision {
  /** Spans that may say something of a call or a prompt, in the order of their places; fewer than asked for: no more. */
  page(backfill: Backfill, limit: number): Promise<PlacedSpan[]>;
}

/** Spans that were stored before there were columns of what they say. @throws (from every method) DomainError `unavailable` */
export interface OlderSpans {
  unfinished(): Promise<Backfill[]>;
  /** Opens a snapshot. What is replaced in it stays received when it was. */
  open(projectId: string): Promise<OlderSpansSnapshot>;
  /** Notes how far a backfill is. */
  note(backfill: Backfill): Promise<void>;
}
