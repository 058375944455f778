import type { Database } from '../../../engine/metadata/database.js';
import type { StoredRecord } from '../metadata-transfer.js';

/** What a record cannot be stored for. */
export interface Misfit {
  /** The field that is wrong. */
  readonly field: string;
  readonly detail: string;
  /** Whether something else is in its place, rather than what it names missing. */
  readonly taken?: true;
}

/** Stores a record where it is not there yet, inside a transaction of the caller's. @returns whether it was stored */
export type Take = (projectId: string, record: StoredRecord) => boolean | Misfit;

export type Values = Readonly<Record<string, unknown>>;

/** The id of the user whom a record names, who is made where they are not there. */
export type By = (projectId: string, value: unknown) => string;

export const TAKEN =
  'belongs to another project of this installation: a project can be imported only once per installation';

export const missing = (field: string, what: string): Misfit => ({
  field,
  detail: `is not a ${what} of this project: import the parts in order`,
});

/** A flag as it is stored. */
export const bit = (value: unknown) => (value === true ? 1 : 0);

/** JSON as it is stored. */
export const text = (value: unknown) => (value === null ? null : JSON.stringify(value));

/** Things of a table that other records belong to, and that are hidden while they are deleted. */
export interface Owners {
  /** The number of one that is there; undefined: the project has none with this id. */
  seqOf(projectId: string, id: unknown): number | undefined;
  /** What comes of the record of one that is not new; undefined: it is. */
  alreadyThere(projectId: string, id: unknown): false | Misfit | undefined;
}

export function owners(db: Database, table: 'datasets' | 'experiments'): Owners {
  const find = db.prepare<[unknown], { seq: number; project_id: string; deleted_at: number | null }>(
    `SELECT seq, project_id, deleted_at FROM ${table} WHERE id = ?`,
  );
  return {
    seqOf(projectId, id) {
      const known = find.get(id);
      return known?.project_id === projectId && known.deleted_at === null ? known.seq : undefined;
    },
    alreadyThere(projectId, id) {
      const known = find.get(id);
      if (known === undefined) return undefined;
      if (known.project_id !== projectId) return { field: 'id', detail: TAKEN, taken: true };
      return known.deleted_at === null
        ? false
        : { field: 'id', detail: 'is being deleted: retry when that is done', taken: true };
    },
  };
}
