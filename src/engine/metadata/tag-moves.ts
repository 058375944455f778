import type { Window } from '../schema/page.js';
import type { TagMove } from '../schema/tag.js';
import type { Micros } from '../timestamp.js';
import { guarded, type Database } from './database.js';

/** A table in which each move of a tag is a row: the latest of a tag says where it points. */
export interface MoveTable {
  readonly table: string;
  /** The columns for what the tags are of. */
  readonly owner: readonly string[];
  /** The column for what they point at. */
  readonly target: string;
  /** What stands there, as SQL, where a tag was removed. */
  readonly nowhere: string;
}

/** What tags are of, by column. */
export type Owner = Readonly<Record<string, string>>;

export interface TagTarget<T> {
  readonly tag: string;
  readonly target: T;
}

export interface NewMove<T> {
  readonly owner: Owner;
  readonly tag: string;
  /** Null: removes the tag. */
  readonly target: T | null;
  readonly at: Micros;
  readonly by: string;
}

interface MoveRow<T> {
  readonly target: T | null;
  readonly at: Micros;
  readonly user_id: string;
  readonly user_name: string;
}

/** SQL for the rows `m` of tags that point anywhere: by their times, so that history that is imported later moves no tag back. */
export function pointing({ table, owner, target, nowhere }: MoveTable, columns: string, condition: string): string {
  const same = owner.map((name) => `${name} = m.${name}`).join(' AND ');
  return `SELECT ${columns} FROM ${table} AS m
  WHERE ${condition} AND m.${target} <> ${nowhere}
    AND m.id = (SELECT id FROM ${table} WHERE ${same} AND tag = m.tag ORDER BY moved_at DESC, id DESC LIMIT 1)`;
}

/** Tags that were moved, with their history. @throws DomainError `unavailable` */
export class TagMoves<T extends string | number> {
  readonly #statements;

  constructor(db: Database, of: MoveTable) {
    const { table, owner, target, nowhere } = of;
    const own = owner.map((name) => `m.${name} = @${name}`).join(' AND ');
    const columns = [...owner, 'tag', target, 'moved_by', 'moved_at'].join(', ');
    const given = [...owner.map((name) => `@${name}`), '@tag', `coalesce(@target, ${nowhere})`, '@by'].join(', ');
    const behind = `SELECT max(m.moved_at) + 1 FROM ${table} AS m WHERE ${own} AND m.tag = @tag`;
    const ofOwner = pointing(of, `m.tag, m.${target} AS target`, own);
    this.#statements = {
      all: db.prepare<Owner, TagTarget<T>>(`${ofOwner} ORDER BY m.tag`),
      one: db.prepare<Owner, TagTarget<T>>(`${ofOwner} AND m.tag = @tag`),
      count: db.prepare<Owner, number>(`SELECT count(DISTINCT m.tag) FROM ${table} AS m WHERE ${own}`).pluck(),
      // Behind all moves, also when the clock went back.
      move: db.prepare<object>(
        `INSERT INTO ${table} (${columns}) VALUES (${given}, max(@at, coalesce((${behind}), 0)))`,
      ),
      history: db.prepare<object, MoveRow<T>>(
        `SELECT nullif(m.${target}, ${nowhere}) AS target, m.moved_at AS at, u.id AS user_id, u.name AS user_name
         FROM ${table} AS m JOIN users AS u ON u.id = m.moved_by
         WHERE ${own} AND m.tag = @tag ORDER BY m.moved_at DESC, m.id DESC LIMIT @limit OFFSET @offset`,
      ),
    };
  }

  /** By name. */
  all(owner: Owner): TagTarget<T>[] {
    return guarded(() => this.#statements.all.all(owner));
  }

  find(owner: Owner, tag: string): T | undefined {
    return guarded(() => this.#statements.one.get({ ...owner, tag })?.target);
  }

  /** How many tags there ever were. */
  count(owner: Owner): number {
    return guarded(() => this.#statements.count.get(owner) ?? 0);
  }

  move({ owner, ...move }: NewMove<T>): void {
    guarded(() => this.#statements.move.run({ ...owner, ...move }));
  }

  /** Newest first. */
  history(owner: Owner, tag: string, window: Window): TagMove<T>[] {
    const rows = guarded(() => this.#statements.history.all({ ...owner, tag, ...window }));
    return rows.map(({ user_id: id, user_name: name, ...move }) => ({ ...move, by: { id, name } }));
  }
}
