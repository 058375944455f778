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

/** Most moves that are kept of a tag: when more come, the oldest go. */
export const MAX_MOVES = 1_000;

/** What tags are of, as SQL by column. */
export type OwnerSql = Readonly<Record<string, string>>;

const ofOwner = (owner: OwnerSql) =>
  Object.entries(owner)
    .map(([column, value]) => `${column} = ${value}`)
    .join(' AND ');

/** SQL for where a tag points, or pointed last: by the times of moves, so that history that is imported later moves no tag back. */
export function pointed({ table, target }: MoveTable, owner: OwnerSql, tag: string): string {
  const same = `${ofOwner(owner)} AND tag = ${tag}`;
  return `(SELECT ${target} FROM ${table} WHERE ${same} ORDER BY moved_at DESC, id DESC LIMIT 1)`;
}

/** SQL for the names that tags of an owner ever had, each found with a step of the index, however often it was moved. */
function names({ table }: MoveTable, owner: OwnerSql): string {
  const own = ofOwner(owner);
  return `WITH RECURSIVE names (tag) AS (
      SELECT min(tag) FROM ${table} WHERE ${own}
      UNION ALL SELECT (SELECT min(tag) FROM ${table} WHERE ${own} AND tag > names.tag) FROM names WHERE names.tag IS NOT NULL)`;
}

/** SQL for the tags of an owner that point anywhere, as `tag` and `target`. */
export function pointing(of: MoveTable, owner: OwnerSql): string {
  return `${names(of, owner)} SELECT tag, target
    FROM (SELECT names.tag AS tag, ${pointed(of, owner, 'names.tag')} AS target FROM names WHERE names.tag IS NOT NULL)
    WHERE target <> ${of.nowhere}`;
}

/** SQL that removes moves of a tag beyond those that are kept. @param owner its parameters have the names of columns */
export function removeOld({ table, owner }: Pick<MoveTable, 'table' | 'owner'>): string {
  const same = `${ofOwner(parametersOf(owner))} AND tag = @tag`;
  return `DELETE FROM ${table} WHERE id IN (
    SELECT id FROM ${table} WHERE ${same} ORDER BY moved_at DESC, id DESC LIMIT -1 OFFSET ${MAX_MOVES})`;
}

function parametersOf(owner: readonly string[]): OwnerSql {
  return Object.fromEntries(owner.map((name) => [name, `@${name}`]));
}

/** Tags that were moved, with their history. @throws DomainError `unavailable` */
export class TagMoves<T extends string | number> {
  readonly #db: Database;
  readonly #statements;

  constructor(db: Database, of: MoveTable) {
    const { table, owner, target, nowhere } = of;
    this.#db = db;
    const parameters = parametersOf(owner);
    const own = owner.map((name) => `m.${name} = @${name}`).join(' AND ');
    const columns = [...owner, 'tag', target, 'moved_by', 'moved_at'].join(', ');
    const given = [...owner.map((name) => `@${name}`), '@tag', `coalesce(@target, ${nowhere})`, '@by'].join(', ');
    const behind = `SELECT max(m.moved_at) + 1 FROM ${table} AS m WHERE ${own} AND m.tag = @tag`;
    this.#statements = {
      all: db.prepare<Owner, TagTarget<T>>(`${pointing(of, parameters)} ORDER BY tag`),
      one: db.prepare<Owner, T | null>(`SELECT nullif(${pointed(of, parameters, '@tag')}, ${nowhere})`).pluck(),
      count: db.prepare<Owner, number>(`${names(of, parameters)} SELECT count(tag) FROM names`).pluck(),
      removeOld: db.prepare<Owner>(removeOld(of)),
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
    return guarded(() => this.#statements.one.get({ ...owner, tag }) ?? undefined);
  }

  /** How many tags there ever were, including removed ones. */
  count(owner: Owner): number {
    return guarded(() => this.#statements.count.get(owner) ?? 0);
  }

  move({ owner, ...move }: NewMove<T>): void {
    const { tag } = move;
    const run = this.#db.transaction(() => {
      this.#statements.move.run({ ...owner, ...move });
      this.#statements.removeOld.run({ ...owner, tag });
    });
    guarded(run);
  }

  /** Newest first. */
  history(owner: Owner, tag: string, window: Window): TagMove<T>[] {
    const rows = guarded(() => this.#statements.history.all({ ...owner, tag, ...window }));
    return rows.map(({ user_id: id, user_name: name, ...move }) => ({ ...move, by: { id, name } }));
  }
}
