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

/** JSON as it is stored. */
export const text = (value: unknown) => (value === null ? null : JSON.stringify(value));
