import { MAX_REVISIONS } from '../records.js';

/** What rows are found by: an index that has the project in front, or else each prompt, judge, dataset or experiment of the project. */
export type GroupedBy = 'project' | 'prompt' | 'judge' | 'dataset' | 'experiment';

/** Where the records of a part are read. */
export interface Source {
  readonly by: GroupedBy;
  readonly select: string;
  readonly from: string;
  /** The condition for the rows of `@group`; up to `@asOf`, where their order is that of time. */
  readonly where: string;
  /** Which of them are there up to `@asOf`, where their order is another. Default: all. */
  readonly until?: string;
  /** The order of the rows, each with another value. */
  readonly keys: readonly string[];
  /** Fields that are stored as JSON. */
  readonly json: readonly string[];
  /** Fields that are stored as 0 and 1. */
  readonly flags: readonly string[];
}

/** SQL for a user, as records name them. */
export const person = (user: string) =>
  `(SELECT json_object('id', u.id, 'name', u.name) FROM users AS u WHERE u.id = ${user})`;
/** Whatever was counted since an import, another installation takes it. */
export const counted = (revision: string) => `min(ifnull(${revision}, 0), ${MAX_REVISIONS})`;

/** A source without fields of JSON and flags. */
export const plain: Pick<Source, 'json' | 'flags'> = { json: [], flags: [] };
