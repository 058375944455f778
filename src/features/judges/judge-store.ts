import type { VersionDraft } from '../prompts/prompt.js';
import type { Micros } from '../../engine/timestamp.js';
import type { Window } from '../../engine/schema/page.js';
import type { Judge, JudgeSettings } from './judge.js';

/** The first version of a new task prompt: it gets the first of the slugs that is free. */
export interface TaskDraft {
  readonly slugs: Iterable<string>;
  readonly version: VersionDraft;
}

/**
 * Where judges are kept; inside one project except for `enabled`. A write that returned is durable and seen by every later
 * read. Throws `DomainError('unavailable')` when the store does not answer; nothing is written then.
 */
export interface JudgeStore {
  /** Stores the judge and, in the same transaction, the prompt that holds its instruction. @returns the judge with its slug */
  insert(judge: Judge, task: TaskDraft | null): Judge;
  /** A judge, also a deleted one. */
  find(projectId: string, id: string): Judge | undefined;
  /** Judges of a project without deleted ones, oldest first. */
  list(projectId: string, window: Window): Judge[];
  /** How many judges the project has that are not deleted. */
  count(projectId: string): number;
  /** Enabled judges of all projects, without deleted ones. */
  enabled(): Judge[];
  /**
   * Stores the settings, and with `cancelAutomatic` removes queued runs of origin `automatic`.
   * @param dueBy when those that wait for quiet are due at the latest; null: as they are
   * @returns false when there is no such judge or it is deleted.
   */
  update(
    judge: Pick<Judge, 'id' | 'project_id' | 'judged_since' | 'updated_at'> & JudgeSettings,
    cancelAutomatic: boolean,
    dueBy: Micros | null,
  ): boolean;
  /** Marks a judge as deleted and removes its queued runs. False when there is no such judge. */
  remove(projectId: string, id: string, at: Micros): boolean;
}
