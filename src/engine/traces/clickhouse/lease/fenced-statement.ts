import { identifier, sql, type Sql } from '../client/sql.js';

const FLAG = 'lease_held';

/** Statements that define tables, and what rewrites parts without the rows deleted from them: each may be run twice. */
const DEFINITION = /^\s*(?:CREATE|ALTER|DROP)\s/;
const INSERT_VALUES = /^\s*(INSERT INTO \w+(?: \([^)]*\))?)\s+VALUES \(([\s\S]*)\)\s*$/;
const INSERT_SELECT = /^\s*(INSERT INTO \w+(?: \([^)]*\))?)\s+((?:SELECT|WITH)\s[\s\S]*)$/;
const DELETE = /^\s*(DELETE FROM \w+) WHERE ([\s\S]*)$/;
/** Merges change no answer, whenever they are requested. */
const MERGE = /^\s*OPTIMIZE TABLE \w+ PARTITION ID '\w+' FINAL\s*$/;
const TRUNCATE = /^\s*TRUNCATE TABLE (\w+)\s*$/;

/**
 * The one place where a statement becomes one that changes nothing unless a condition holds. One that adds rows is
 * refused otherwise (code 395), before it stores any; one that deletes finds no rows to delete. The condition stands near the
 * beginning, for ClickHouse to show it of a running statement however long that is.
 *
 * @param condition without parameters
 * @param inserting the one of statements that add rows
 * @throws Error for a statement of another kind, as nothing would keep it from running late.
 */
export function fenced(statement: Sql, condition: Sql, inserting = condition): Sql {
  const flag = flagOf(inserting).render().text;
  const only = condition.render().text;
  return statement.rewritten((text) => fencedText(text, flag, only));
}

function fencedText(statement: string, flag: string, condition: string): string {
  if (DEFINITION.test(statement) || MERGE.test(statement)) return statement;
  const values = INSERT_VALUES.exec(statement);
  if (values) return `${values[1] ?? ''} ${flag} SELECT ${values[2] ?? ''} WHERE ${FLAG}`;
  const select = INSERT_SELECT.exec(statement);
  if (select) return `${select[1] ?? ''} ${flag} SELECT * FROM (${select[2] ?? ''}) WHERE ${FLAG}`;
  const deletion = DELETE.exec(statement);
  if (deletion) return `${deletion[1] ?? ''} WHERE ${condition} AND (${deletion[2] ?? ''})`;
  const emptied = TRUNCATE.exec(statement);
  if (emptied) return `DELETE FROM ${emptied[1] ?? ''} WHERE ${condition}`;
  throw new Error(`A statement that changes data cannot be tied to the lease: ${statement.slice(0, 100)}`);
}

/** The SELECT that the rows of an insert go through. @param select of `input()`, without a condition */
export function fencedInput(select: Sql, condition: Sql): Sql {
  return sql`${flagOf(condition)} ${select} WHERE ${identifier(FLAG)}`;
}

/** A SELECT that the rows of an insert go through anyway, tied to the condition. */
export function fencedSelect(select: Sql, condition: Sql): Sql {
  return sql`${flagOf(condition)} SELECT * FROM (${select}) WHERE ${identifier(FLAG)}`;
}

function flagOf(condition: Sql): Sql {
  return sql`WITH throwIf(NOT ${condition}) = 0 AS ${identifier(FLAG)}`;
}
