import type { Micros } from '../../../timestamp.js';
import type { ChangesFrom } from '../list/changes.js';
import type { State } from '../list/tail.js';
import type { DeletedThing } from '../deletion/stored-spans.js';
import type { Score, Scored, ScoreSource } from './score.js';

/** A score as it is stored. */
export interface StoredScore extends Omit<Score, 'received_at'> {
  /** When the stored version was received. */
  readonly created_at: Micros;
}

/** A checked request for a page of scores. Null: any. */
export interface ScoreQuery {
  readonly entityType: Scored | null;
  readonly entityIds: readonly string[] | null;
  /** Of this trace and its spans. */
  readonly traceId: string | null;
  /** Of this session, its traces and their spans. */
  readonly sessionId: string | null;
  readonly names: readonly string[] | null;
  readonly sources: readonly ScoreSource[] | null;
  readonly authors: readonly string[] | null;
  /** Categories and texts. */
  readonly texts: readonly string[] | null;
  /** Bounds of numbers, inclusive; of booleans, true is 1. */
  readonly min: number | null;
  readonly max: number | null;
  readonly createdAfter: Micros | null;
  readonly createdBefore: Micros | null;
  /** Only those that follow a score in the order of `created_at`, descending. */
  readonly behind?: Pick<StoredScore, 'created_at' | 'id'> | null;
  readonly sort: 'created_at' | 'value';
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
  /** Whether to count all that match, too. */
  readonly count: boolean;
}

/**
 * Scores as stored. Each read sees every write acknowledged before the call.
 * @throws DomainError `unavailable` when a limit is met or the store does not answer
 */
export interface Scores {
  page(
    projectId: string,
    query: ScoreQuery,
    signal?: AbortSignal,
  ): Promise<{ readonly scores: readonly StoredScore[]; readonly total: number | null }>;
  find(projectId: string, id: string, signal?: AbortSignal): Promise<StoredScore | null>;
  /** How many scores have a name. */
  countNamed(projectId: string, name: string): Promise<number>;
  /**
   * Deletes a score. @returns false: there is none
   * @throws DomainError also as `WriteLog.append` does for deletions
   */
  remove(projectId: string, id: string): Promise<boolean>;
  /** Deletes what someone gave to some spans. @throws as {@link remove} does */
  removeOf(projectId: string, spanIds: readonly string[], by: Pick<Score, 'source' | 'author'>): Promise<void>;
}

/** A page of scores by their versions, and where the next one begins. */
export interface ScoreChangePage {
  readonly scores: readonly StoredScore[];
  readonly next: ChangesFrom;
}

/** Scores by the versions in which they are stored now, as `ListChanges` has rows of lists. */
export interface ScoreChanges {
  /** The state with everything that is acknowledged. @throws DomainError `unavailable` */
  now(): State;
  /** @param query its order and window mean nothing @throws DomainError `unavailable` */
  page(
    projectId: string,
    query: ScoreQuery,
    from: ChangesFrom,
    upTo: State,
    signal?: AbortSignal,
  ): Promise<ScoreChangePage>;
}

/** Scores that go with what they are about. */
export interface ScoreRemoval {
  /**
   * Deletes the scores of those of some things, of their traces and of the sessions of these that are not stored anymore. May be
   * repeated.
   * @param things in portions, which are not asked for where the project has no scores
   * @param upTo scores written after it stay; null: none do
   */
  removeScores(projectId: string, things: AsyncIterable<readonly DeletedThing[]>, upTo: Micros | null): Promise<void>;
}
