import type { Micros } from '../../../timestamp.js';

export type DeletableKind = DeletedThing['kind'];

/** A span, and where it is stored. */
export type PlacedSpan = Pick<DeletedThing, 'trace_id' | 'id' | 'started_at'>;

/** Everything that goes with a thing that is to be deleted, and the thing itself. */
export interface Below {
  /** Moment up to which `things` is complete; spans taken in later are not deleted. */
  readonly upTo: Micros;
  /** Things in portions. */
  readonly things: AsyncIterable<readonly DeletedThing[]>;
}

/**
 * Deletion from the store of spans. Each method may be repeated, and sees every acknowledged write.
 * Throws DomainError `unavailable` or `overloaded`.
 */
export interface StoredSpans {
  /** Everything that goes with a thing, and the thing; null when there is no such thing. */
  below(projectId: string, kind: DeletableKind, id: string): Promise<Below | null>;
  /**
   * Everything in some traces or sessions now, with these, in portions.
   * @throws when there is no room for a deletion
   */
  within(
    projectId: string,
    list: 'traces' | 'sessions',
    ids: readonly string[],
  ): AsyncIterable<readonly DeletedThing[]>;
  /** Those of some objects that anything was written to after a moment, or that a score of one of some names was given or taken. */
  changedSince(
    projectId: string,
    list: 'spans' | 'traces' | 'sessions',
    objects: readonly { readonly id: string; readonly trace_id?: string }[],
    since: { readonly after: Micros; readonly scores: readonly string[] },
  ): Promise<ReadonlySet<string>>;
  /** Everything in traces now, in portions. */
  contents(projectId: string, traceIds: readonly string[]): AsyncIterable<readonly DeletedThing[]>;
  /** Calls of these judges whose stored requests may hold one of the spans as an example, in portions. */
  callsShowing(
    projectId: string,
    judgeIds: readonly string[],
    spanIds: readonly string[],
  ): AsyncIterable<readonly DeletedThing[]>;
  /**
   * What holds texts of rows, in portions: the traces of their results in some experiments whole, but of a trace in which results of
   * other rows were made, too, only these results.
   */
  resultsOfRows(
    projectId: string,
    experimentIds: readonly string[],
    rowIds: readonly string[],
  ): AsyncIterable<readonly DeletedThing[]>;
  /**
   * Deletes things from every list and figure, seen by every later read.
   * @param upTo what was written after it stays; null: nothing stays
   * @returns ids of the spans that stay
   */
  writeTombstones(
    projectId: string,
    things: readonly DeletedThing[],
    upTo: Micros | null,
  ): Promise<ReadonlySet<string>>;
  /**
   * Deletes traces with all that is in them, seen by every later read.
   * @param upTo a trace that was written to after it stays as it is, to be deleted thing by thing
   * @returns those that are gone
   */
  removeTraces(projectId: string, ids: readonly string[], upTo: Micros): Promise<ReadonlySet<string>>;
  /** Those of some spans that went with their traces which are there again, by their ids. */
  sentAgain(projectId: string, spans: readonly DeletedThing[]): Promise<ReadonlySet<string>>;
  /** Ids that live spans of other traces have as well: records by such an id are theirs, too. */
  sharedIds(projectId: string, things: readonly DeletedThing[]): Promise<ReadonlySet<string>>;
  /**
   * Takes words of spans that are gone out of what search looks at first.
   * @param signal as of {@link removeProject}
   */
  forgetWords(projectId: string, spans: readonly PlacedSpan[], signal: AbortSignal): Promise<void>;
  /**
   * Deletes everything of a project; nothing may be written to it anymore.
   * @param signal ends the waiting, with its reason; ClickHouse may continue
   */
  removeProject(projectId: string, signal: AbortSignal): Promise<void>;
}

/** A thing that is to be deleted from the store of spans, and where it is stored. */
export interface DeletedThing {
  /** Kind of the thing; `trace` and `session` stand for what clients posted about them. */
  readonly kind: 'span' | 'trace' | 'session';
  /** Trace of the thing; empty for a session. */
  readonly trace_id: string;
  readonly id: string;
  /** Start of a span; 0 for anything else. */
  readonly started_at: Micros;
}
