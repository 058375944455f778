import type { TracedStatement } from '../../../signals/tracing.js';
import type { Sql } from './sql.js';

/** Of a longer statement, this much is looked at: what follows are ids. */
const MAX_CHARACTERS = 100_000;
/** Tables that a description names. */
const MAX_TABLES = 5;

const STRINGS = /'(?:[^'\\]|\\.)*'/g;
const NAMED_BY_WITH = /([a-z_]\w*)\s+AS\s*\(/gi;
const WRITTEN = /\b(?:INTO|TABLE|UPDATE|EXISTS)\s+[`"]?([a-z_][\w.]*)/gi;
/** What stands before a bracket is a table function, and what ARRAY JOIN names a column. */
const READ = /\b(?:FROM|(?<!\bARRAY\s+)JOIN)\s+[`"]?([a-z_][\w.]*)[`"]?(?![\w.]|\s*\()/gi;
const OPERATIONS = /^\s*(?:\(\s*)*(?:WITH\b[\s\S]*?\b(?=SELECT\b))?([a-z]+)/i;

/** What a statement does, and with which tables: never a value of it. */
export function describeStatement(statement: Sql): TracedStatement {
  const text = statement.render().text.slice(0, MAX_CHARACTERS).replaceAll(STRINGS, "''");
  const operation = OPERATIONS.exec(text)?.[1]?.toUpperCase() ?? 'OTHER';
  const named = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, name]) => name ?? '');
  const own = new Set(named(NAMED_BY_WITH));
  const tables = new Set([...named(WRITTEN), ...named(READ).filter((name) => !own.has(name))]);
  return { operation, tables: [...tables].slice(0, MAX_TABLES) };
}
