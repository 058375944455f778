import { projectValue, sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { among } from './reads-in-progress.js';
import type { TimeRange } from './times.js';

/** What `newest_scores` holds of a name for a list. */
export interface StoredNewest {
  /** The number of the rows that count. */
  readonly filling: number;
  /** The last generation of them that counts. */
  readonly generation: number;
  /** How many objects there are rows of, more or less. */
  readonly objects: number;
  /** Objects of which they do not: the newest score of these may have become another. */
  readonly changed: readonly string[];
}

/** What is stored of a name, by list. */
export type NewestOfLists = Readonly<Partial<Record<'traces' | 'sessions', StoredNewest>>>;

/** The scope of a read: a project, in the state that it had at a version. */
export interface ReadScope {
  readonly projectId: string;
  readonly upTo: Version;
  /** Only spans written after this version are read. Absent: all are. */
  readonly since?: Version;
  /** Traces that are not rolled up as of this version: what is read of them comes from their facts. Absent: all are. */
  readonly unsettled?: readonly string[];
  /** Traces among the unsettled that are too large for their figures to be computed: these are read as they are stored. */
  readonly aside?: readonly string[];
  /** Sessions that are not rolled up as of this version: posted, or named in an unsettled trace. Absent: all are. */
  readonly unsettledSessions?: readonly string[];
  /** Which newest scores of traces and sessions are stored as of this version, by their names. Absent: none are. */
  readonly newest?: ReadonlyMap<string, NewestOfLists>;
  /** Spans that may have several rows of scores of a name, by names; one that is not in it: any may. */
  readonly repeated?: ReadonlyMap<string, readonly string[]>;
  /** All names of the project's scores. Absent: they are not known, or many. */
  readonly scoreNames?: readonly string[];
  /** Whether there may be spans of experiments in it; absent: there are none. */
  readonly hasMarked?: boolean;
  /** When the spans started that may hold the text that is searched for; absent: at any time. */
  readonly within?: readonly TimeRange[];
  /** The same of each of the query's `inTracesWith`; undefined: at any time. */
  readonly withinTraces?: readonly (readonly TimeRange[] | undefined)[];
}

export function inProject(projectId: string): Sql {
  return sql`project_id = ${projectValue(projectId)}`;
}

/** The condition of {@link inProject}, for a statement that does not wait for the project's turn. */
export function inProjectAtOnce(projectId: string): Sql {
  return sql`project_id = ${value(projectId, 'String')}`;
}

/** The ids of unsettled traces as one array; null: there are none. @param wanted null: all traces */
export function unsettledOf({ unsettled = [] }: ReadScope, wanted: readonly string[] | null = null): Sql | null {
  const ids = among(unsettled, wanted);
  return ids.length === 0 ? null : sql`${value(ids, 'Array(UUID)')}`;
}
