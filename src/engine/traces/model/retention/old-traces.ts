import type { Below } from '../deletion/stored-spans.js';
import type { Micros } from '../../../timestamp.js';

/** A trace that began before a moment, and may have ended before it. */
export interface TracePlace {
  readonly id: string;
  readonly started_at: Micros;
  readonly spans: number;
}

/** A trace in which nothing is as new as a moment. */
export interface OldTrace {
  readonly id: string;
  readonly spans: number;
  /** The latest start or end of its spans, and of what was posted about it. */
  readonly newest: Micros;
  /** Whether a tag says that it is to be kept: one of its own, of its session or of one of its spans. */
  readonly tagged: boolean;
}

/** Traces that are old as of a moment. */
export interface Examined {
  readonly upTo: Micros;
  readonly old: readonly OldTrace[];
}

/** Traces, and spans of traces. */
export interface TraceCount {
  readonly traces: number;
  readonly spans: number;
}

/** What of a project is old. */
export interface OldCount {
  /** All traces in which nothing is as new as the moment. */
  readonly old: TraceCount;
  /** Those among them that a tag keeps. */
  readonly tagged: TraceCount;
  /** Spans of the project, of any age. */
  readonly allSpans: number;
}

/**
 * Traces by their age. Each method sees every acknowledged write. Throws DomainError `unavailable` or `overloaded`.
 */
export interface OldTraces {
  /** Traces that may be older than a moment, by their start, after one of them. */
  candidates(projectId: string, before: Micros, after: TracePlace | null, limit: number): Promise<TracePlace[]>;
  /**
   * Which of some traces are older than a moment, as of the moment `upTo`, in the order in which what they hold is stored.
   * @param ids at most {@link EXAMINED_AT_ONCE}
   */
  examine(projectId: string, ids: readonly string[], before: Micros, signal?: AbortSignal): Promise<Examined>;
  /**
   * Which of some traces were written to after a moment, as of the moment `upTo`, and whether any write since then has a tag that
   * keeps a session.
   * @param ids at most {@link EXAMINED_AT_ONCE}
   */
  changedSince(
    projectId: string,
    ids: readonly string[],
    since: Micros,
  ): Promise<{ readonly upTo: Micros; readonly changed: readonly string[]; readonly keepsSessions: boolean }>;
  /** Spans and posted traces of some traces, as they are now, in portions. @throws when there is no room for a deletion */
  things(projectId: string, ids: readonly string[]): Below['things'];
  /**
   * Sessions that were posted before a moment, are not tagged to be kept, and that no trace names, as of the moment `upTo`.
   * @param after only sessions after this one, in the order of the answer
   */
  emptySessions(
    projectId: string,
    before: Micros,
    after: string | null,
    limit: number,
  ): Promise<{ readonly upTo: Micros; readonly ids: readonly string[] }>;
  count(projectId: string, before: Micros, signal?: AbortSignal): Promise<OldCount>;
  /** Traces with one of these spans. @param spanIds at most {@link SOUGHT_AT_ONCE} */
  tracesOf(projectId: string, spanIds: readonly string[], before: Micros, signal?: AbortSignal): Promise<string[]>;
}

/** The most traces that are examined together: their ids stand in a statement three times. */
export const EXAMINED_AT_ONCE = 60_000;
/** Spans whose traces are looked for together. */
export const SOUGHT_AT_ONCE = 5_000;
