import type { Window } from '../schema/page.js';
import type { TagMove } from '../schema/tag.js';
import type { Micros } from '../timestamp.js';
import { guarded, type Database } from './database.js';

/** A table in which each move of a tag is a row: the latest of a tag says where it points. */
export interface MoveTable {
  readonly table: string;
  /** The column for what the tags are of. */
  readonly owner: string;
  /** The column for what they point at. */
  readonly target: string;
  /** What stands there, as SQL, where a tag was removed. */
  readonly nowhere: string;
  /** Further columns, which each move gives. */
  readonly more?: readonly string[];
}

export interface TagTarget<T> {
  readonly tag: string;
  readonly target: T;
}

export interface NewMove<T> {
  readonly owner: string;
  readonly tag: string;
  /** Null: removes the tag. */
  readonly target: T | null;
  readonly at: Micros;
  readonly by: string;
  readonly more?: Readonly<Record<string, string>>;
}

interface MoveRow<T> {
  readonly target: T | null;
  readonly at: Micros;
  readonly user_id: string;
  readonly user_name: string;
}

/** SQL for the rows `m` of tags that point anywhere: by their times, so that history that is imported later moves no tag back. */
export function pointing({ table, owner, target, nowhere }: MoveTable, columns: string, condition: string): string {
  return `SELECT ${columns} FROM ${table} AS m
  WHERE ${condition} AND m.${target} <> ${nowhere}
    AND m.id = (SELECT id FROM ${table} WHERE ${owner} = m.${owner} AND tag = m.tag ORDER BY moved_at DESC, id DESC LIMIT 1)`;
}

/** Tags that were moved, with their history. @throws DomainError `unavailable` */
export class TagMoves<T extends string | number> {
  readonly #statements;

  constructor(db: Database, of: MoveTable) {
    const { table, owner, target, nowhere, more = [] } = of;
    const columns = [owner, 'tag', target, 'moved_by', ...more];
    const given = ['@owner', '@tag', `coalesce(@target, ${nowhere})`, '@by', ...more.map((name) => `@${name}`)];
    const last = `SELECT max(moved_at) + 1 FROM ${table} WHERE ${owner} = @owner AND tag = @tag`;
    const ofOwner = pointing(of, `m.tag, m.${target} AS target`, `m.${owner} = @owner`);
    this.#statements = {
      all: db.prepare<{ owner: string }, TagTarget<T>>(`${ofOwner} ORDER BY m.tag`),
      one: db.prepare<{ owner: string; tag: string }, TagTarget<T>>(`${ofOwner} AND m.tag = @tag`),
      count: db.prepare<[string], number>(`SELECT count(DISTINCT tag) FROM ${table} WHERE ${owner} = ?`).pluck(),
      // Behind all moves, also when the clock went back.
      move: db.prepare<object>(
        `INSERT INTO ${table} (${columns.join(', ')}, moved_at) VALUES (${given.join(', ')}, max(@at, coalesce((${last}), 0)))`,
      ),
      history: db.prepare<{ owner: string; tag: string } & Window, MoveRow<T>>(
        `SELECT nullif(m.${target}, ${nowhere}) AS target, m.moved_at AS at, u.id AS user_id, u.name AS user_name
         FROM ${table} AS m JOIN users AS u ON u.id = m.moved_by
         WHERE m.${owner} = @owner AND m.tag = @tag ORDER BY m.moved_at DESC, m.id DESC LIMIT @limit OFFSET @offset`,
      ),
    };
  }

  /** By name. */
  all(owner: string): TagTarget<T>[] {
    return guarded(() => this.#statements.all.all({ owner }));
  }

  find(owner: string, tag: string): T | undefined {
    return guarded(() => this.#statements.one.get({ owner, tag })?.target);
  }

  /** How many tags there ever were. */
  count(owner: string): number {
    return guarded(() => this.#statements.count.get(owner) ?? 0);
  }

  move({ more = {}, ...move }: NewMove<T>): void {
    guarded(() => this.#statements.move.run({ ...move, ...more }));
  }

  /** Newest first. */
  history(owner: string, tag: string, window: Window): TagMove<T>[] {
    const rows = guarded(() => this.#statements.history.all({ owner, tag, ...window }));
    return rows.map(({ user_id: id, user_name: name, ...move }) => ({ ...move, by: { id, name } }));
  }
}
