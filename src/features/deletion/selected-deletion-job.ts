import type { JobHead } from '../../engine/work/job.js';
import type { ListName } from '../../engine/traces/model/list/definitions.js';
import type { Selection } from '../../engine/traces/model/list/selection.js';
import type { Extent } from '../../engine/traces/model/list/statistics.js';
import type { Micros } from '../../engine/timestamp.js';

/** The kind of jobs that delete what filters find. */
export const SELECTED_DELETION = 'selected_deletion';

/** What filters find at a moment, and what goes with it. */
export interface SelectedObjects {
  readonly list: ListName;
  /** The filters as they were written. */
  readonly query: string;
  /** What was found; what came or changed after the moment `upTo` stays. */
  readonly found: Extent;
}

/** Input of a job. */
export interface SelectedInput extends SelectedObjects {
  readonly selection: Selection;
}

/** Checkpoint of a job. */
export interface SelectedCheckpoint {
  /** How many objects are deleted, without those of `going`. */
  readonly deleted: number;
  /** Everything that started later, or is as new, is done; null: nothing is. */
  readonly before: Micros | null;
  /** How many objects of just this time stay. */
  readonly staying: number;
  /** The portion that is being deleted, by an object of it; it is deleted once that is not found anymore. */
  readonly going: { readonly first: string; readonly count: number } | null;
}

export const NOTHING_DELETED: SelectedCheckpoint = { deleted: 0, before: null, staying: 0, going: null };

/** A job that deletes what filters found. */
export interface SelectedDeletion extends JobHead, SelectedObjects {
  readonly deleted: number;
}

/** How many objects of its list were found. */
export function countOf({ list, found }: SelectedObjects): number {
  return found[list];
}
