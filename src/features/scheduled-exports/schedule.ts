import type { ExportFormat } from '../../engine/traces/model/list/export.js';
import type { State } from '../../engine/traces/model/list/tail.js';
import type { Micros } from '../../engine/timestamp.js';

/** Lists that can be exported so: those whose rows have versions. */
export const SCHEDULED_LISTS = ['spans', 'traces', 'sessions', 'scores', 'feedback'] as const;
export type ScheduledList = (typeof SCHEDULED_LISTS)[number];

/** What is exported, and how often. */
export interface ScheduleDraft {
  readonly name: string;
  readonly list: ScheduledList;
  /** Filters and fields, as in the URL of the list. */
  readonly query: string;
  readonly format: ExportFormat;
  readonly every_minutes: number;
}

/** An export of a list to the operator's bucket, every so often. */
export interface Schedule extends ScheduleDraft {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly paused: boolean;
  /** Version up to which everything is in objects. */
  readonly exported_to: State;
  /** The object in progress, with the version that it reaches to: one that was interrupted is made again. */
  readonly object: string | null;
  readonly object_to: State | null;
  readonly next_at: Micros;
  readonly objects: number;
  readonly rows: number;
  readonly last_object: string | null;
  readonly last_at: Micros | null;
  /** In a row. */
  readonly failures: number;
  /** Of the last attempt; null: it did not fail. */
  readonly error: string | null;
  readonly created_at: Micros;
  readonly created_by: string;
}

/** What an attempt came to. */
export interface Exported {
  readonly to: State;
  /** Null: nothing had changed. */
  readonly object: string | null;
  readonly rows: number;
  readonly at: Micros;
  readonly next_at: Micros;
  /** Rows that were left out, and of those left out before the ones that need not wait anymore, by id. */
  readonly leftOut: readonly string[];
  readonly caughtUp: readonly string[];
  /** When it was due as it began: another time says that it was changed or ordered meanwhile. */
  readonly planned: Micros;
}

/** Keeps schedules. Each call is one durable transaction. Throws DomainError `unavailable`. */
export interface ScheduleStore {
  /** @returns false, and nothing is stored, when the project has so many */
  insert(schedule: Schedule, most: number): boolean;
  find(projectId: string, id: string): Schedule | undefined;
  /** In the order in which they were made. */
  list(projectId: string): Schedule[];
  change(id: string, change: Pick<Schedule, 'name' | 'every_minutes' | 'paused' | 'next_at'>): void;
  remove(id: string): void;
  /** Those that are to run now, the longest due first. */
  due(now: Micros, limit: number): Schedule[];
  /** When the next one is due; null: none is to run. */
  nextAt(): Micros | null;
  /** Ids of rows up to `exported_to` that are in no object yet: some of them, each in its turn. */
  leftOut(id: string, limit: number): string[];
  /** Names the object that is about to be uploaded. @returns false when the schedule was deleted */
  begin(id: string, object: string, to: State): boolean;
  /** What reached the bucket, or that there was nothing. */
  finish(id: string, exported: Exported): void;
  fail(id: string, error: string, nextAt: Micros): void;
}
