/** What a table's rows are sorted by within a project, and read in portions by. */
export type KeyKind = 'time' | 'uuid' | 'version';

export interface MovedTable {
  readonly name: string;
  readonly key: string;
  readonly kind: KeyKind;
  /** Whether the table is sorted otherwise: each portion then looks at the keys of all rows, which has to be cheap. */
  readonly isUnsorted?: true;
}

/**
 * Tables that are only added to while nothing is purged: their rows up to a version stay the same. In this order, as in
 * commits.
 */
export const WRITTEN: readonly MovedTable[] = [
  { name: 'spans', key: 'started_at', kind: 'time' },
  { name: 'facts', key: 'trace_id', kind: 'uuid' },
  { name: 'session_statements', key: 'session_id', kind: 'uuid' },
  { name: 'scores', key: 'ver', kind: 'version', isUnsorted: true },
];

/**
 * Tables that rounds fill. Their rows may be taken twice, and from different moments, as the newest row counts: what changed
 * since the first moment is recomputed in the new place.
 */
export const ROLLED_UP: readonly MovedTable[] = [
  { name: 'superseded', key: 'ver', kind: 'version' },
  { name: 'traces', key: 'id', kind: 'uuid' },
  { name: 'trace_starts', key: 'started_at', kind: 'time' },
  { name: 'session_traces', key: 'session_id', kind: 'uuid' },
  { name: 'sessions', key: 'id', kind: 'uuid' },
  { name: 'session_starts', key: 'created_ver', kind: 'version' },
];

/** Tables that a view fills with what is written to `spans`, in the new place as well. A row that is there twice changes nothing. */
export const FOLLOWING: readonly string[] = ['experiment_spans'];

/** The index of words, which may also be refilled from spans. */
export const WORDS: MovedTable = { name: 'span_words', key: 'started_from', kind: 'time' };

/** A few rows each, of which the newest count. */
export const SMALL: readonly string[] = ['set_aside', 'span_backfills'];

/** Tables of a place itself: the newest scores are refilled where they are asked for. */
export const OF_THE_PLACE: readonly string[] = ['newest_scores', 'schema_migrations', 'rolled_up', 'server_lease'];
