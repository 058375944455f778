import type { ScoreValue } from '../model/score/score.js';
import { sql, type Sql } from '../clickhouse/client/sql.js';
import type { ReadScope } from '../read/scope.js';
import { objectScores, type ScoresAsked } from './object-scores.js';
import type { ListSource } from './sources.js';

/**
 * Rows of `scored`, the id of an object, and of its newest score of a name: `ver`, `kind`, and `number` or `text`. Spans come in the order
 * of the table: a seventh of the time of an aggregation.
 */
export function newestScores(
  source: ListSource,
  scope: ReadScope,
  name: string,
  among: Pick<ScoresAsked, 'ids' | 'areMany'> = {},
): Sql {
  const scores = objectScores(source, scope, { columns: ['kind', 'number', 'text'], name, ...among });
  return sql`SELECT scored, ver, kind, number, text FROM (${scores}) ORDER BY scored, ver DESC LIMIT 1 BY scored`;
}

/**
 * The value of a newest score as a text, in an array; of none, a null. The first letter says what it is a text of: n of a number,
 * b of true or false, t of itself.
 */
export function textsOfScore(score: Sql): Sql {
  return sql`[multiIf(${score}.kind = '', NULL, ${score}.kind = 'numeric', concat('n', toString(assumeNotNull(${score}.number))),
    ${score}.kind = 'boolean', if(${score}.number = 1, 'btrue', 'bfalse'), concat('t', ${score}.text))]`;
}

/** The value that a text of {@link textsOfScore} stands for. */
export function scoreValueOf(text: string): ScoreValue {
  const value = text.slice(1);
  if (text.startsWith('n')) return Number(value);
  return text.startsWith('b') ? value === 'true' : value;
}
