import { randomUUID } from 'node:crypto';
import { DomainError } from './errors.js';
import type { Principal } from './identity/identity.js';
import type { Micros } from './timestamp.js';

/** Something of a project that people make, name and change. No two of a kind have the same name. */
export interface Named {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly name: string;
  readonly created_at: Micros;
  readonly created_by: string;
  readonly updated_at: Micros;
}

/** Why something is not stored: the project has too many, or another one has its name. */
export type Unfit = 'full' | 'taken';

/** Keeps what has names. Each write is one durable transaction. @throws DomainError `unavailable` */
export interface NamedStore<T extends Named> {
  /** @returns why it is not stored; null: it is */
  insert(row: T, most: number): Unfit | null;
  find(projectId: string, id: string): T | undefined;
  /** By name. */
  list(projectId: string): T[];
  /** Stores another state of one that is there. @returns why it is not stored; null: it is */
  replace(row: T): Unfit | null;
  remove(projectId: string, id: string): void;
}

/** What a new one has before anything else. */
export function newlyNamed({ project_id, user_id }: Principal, name: string): Named {
  const now = Date.now() * 1000;
  return { id: randomUUID(), project_id, name, created_at: now, created_by: user_id, updated_at: now };
}

/**
 * The one with an id.
 * @param what what it is called, such as `dashboard`
 * @throws DomainError `not_found`
 */
export function requireNamed<T extends Named>(
  store: Pick<NamedStore<T>, 'find'>,
  projectId: string,
  id: string,
  what: string,
): T {
  const found = store.find(projectId, id.toLowerCase());
  if (found === undefined) throw new DomainError('not_found', `There is no ${what} with this id`);
  return found;
}

/** @throws DomainError `conflict` for what was not stored */
export function requireFit(unfit: Unfit | null, what: string, most: number): void {
  if (unfit === 'full') throw new DomainError('conflict', `A project has at most ${most} ${what}s: delete one first`);
  if (unfit === 'taken')
    throw new DomainError('conflict', `Another ${what} of the project has this name: choose another name`);
}
