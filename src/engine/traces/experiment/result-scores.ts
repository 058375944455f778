import { empty, identifier, join, sql, type Sql } from '../clickhouse/client/sql.js';
import { ownScores } from '../list/object-scores.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { IS_RESULT, markedRows } from './marked-rows.js';

/*
 * The scores of results: those of their spans, and those of the traces in which they were made, unless several results were. Of one
 * name, the newest counts.
 */

/** Some results of experiments. */
export interface SomeResults {
  /** Their newest spans, with columns beside `experiment_id`, `row_id` and `repetition`. */
  readonly results: (columns: Sql) => Sql;
  /** Conditions by which all marked spans of these experiments are found. */
  readonly experiments: readonly Sql[];
}

/** A set of the traces in which results were made. */
export const madeIn = ({ results }: SomeResults) => sql`(SELECT made_in FROM (${results(sql`made_in`)}))`;

/** A set of experiments with traces in which several of their results were made: of the traces of these results alone. */
export function shared(scope: ReadScope, asked: SomeResults): Sql {
  const conditions = [...asked.experiments, IS_RESULT, sql`made_in IN ${madeIn(asked)}`];
  return sql`(SELECT experiment_id, made_in FROM (${markedRows(scope, sql`experiment_id, made_in, row_id, repetition`, conditions)})
    GROUP BY experiment_id, made_in HAVING ${SEVERAL})`;
}

/** Hashes, as texts would take their time: of two results they are never equal, as far as anybody will see. */
export const SEVERAL = sql`min(sipHash64(row_id, repetition)) != max(sipHash64(row_id, repetition))`;

/** Whether a project has, or had, scores of traces: of most, nothing is joined for them. */
export const hasTraceScores = ({ projectId }: ReadScope): Sql =>
  sql`SELECT 1 FROM scores WHERE ${inProject(projectId)} AND entity_type = 'trace' LIMIT 1`;

/** What is read of the scores of results. */
export interface ResultScoresAsked {
  /** Columns of `scores`, beside `name` and `ver`. */
  readonly columns: readonly string[];
  /** The only names; absent: any. */
  readonly names?: readonly string[];
  /** Whether traces may have any of these. */
  readonly ofTraces: boolean;
}

/** Rows of `id`, that of the span of a result, `name`, `ver` and columns of the newest score of each name. */
export function scoresOfResults(
  scope: ReadScope,
  asked: SomeResults,
  { columns, names, ofTraces }: ResultScoresAsked,
): Sql {
  const read = { columns: ['name', ...columns], ...(names !== undefined && { names }) };
  const ids = sql`(SELECT id FROM (${asked.results(sql`id`)}))`;
  const selected = (table: Sql) =>
    join(
      ['ver', ...read.columns].map((column) => sql`${table}${identifier(column)} AS ${identifier(column)}`),
      ', ',
    );
  // In the order in which they are stored.
  const own = sql`SELECT scored AS id, ${selected(empty)} FROM (
    SELECT * FROM (${ownScores('span', scope, { ...read, ids })}) ORDER BY name, scored, ver DESC LIMIT 1 BY name, scored
  )`;
  if (!ofTraces) return own;
  const scores = ownScores('trace', scope, { ...read, ids: madeIn(asked) });
  const alone = sql`SELECT id, made_in FROM (${asked.results(sql`id, made_in`)}) WHERE (experiment_id, made_in) NOT IN ${shared(scope, asked)}`;
  return sql`SELECT * FROM (
    ${own}
    UNION ALL
    SELECT result.id AS id, ${selected(sql`score.`)} FROM (${scores}) AS score INNER JOIN (${alone}) AS result ON result.made_in = score.scored
  ) ORDER BY id, name, ver DESC LIMIT 1 BY id, name`;
}
