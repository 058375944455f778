import { identifier, join, sql, type Sql } from '../clickhouse/client/sql.js';
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
  /** Whether there are traces in which several of their results were made: see {@link anyShared}. */
  readonly haveShared: boolean;
}

/** A set of the traces in which results were made. */
export const madeIn = ({ results }: SomeResults) => sql`(SELECT made_in FROM (${results(sql`made_in`)}))`;

/** A set of experiments with traces in which several of their results were made: of the traces of these results alone. */
export function shared(scope: ReadScope, asked: SomeResults): Sql {
  const conditions = [...asked.experiments, IS_RESULT, sql`made_in IN ${madeIn(asked)}`];
  return sql`(SELECT experiment_id, made_in FROM (${markedResults(scope, conditions)})
    GROUP BY experiment_id, made_in HAVING ${SEVERAL})`;
}

/**
 * Whether some experiments have traces in which several results were made. Most have none, and one look at all of their results is quicker than
 * one for the results of each portion.
 */
export const anyShared = (scope: ReadScope, experiments: readonly Sql[]): Sql =>
  sql`SELECT 1 FROM (${markedResults(scope, [...experiments, IS_RESULT])})
  GROUP BY experiment_id, made_in HAVING ${SEVERAL} LIMIT 1`;

/** Settings for {@link anyShared}: of very many results, what it counts by goes to the disk. */
export const ANY_SHARED_SETTINGS = { max_bytes_before_external_group_by: String(128 * 1024 * 1024) } as const;

const markedResults = (scope: ReadScope, conditions: readonly Sql[]) =>
  markedRows(scope, sql`experiment_id, made_in, row_id, repetition`, conditions);

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
  /** Columns of the results. */
  readonly ofResult?: readonly string[];
}

/**
 * Rows of `result`, the version of the span of a result, `name`, `ver` and columns of the newest score of each name. By its version, as
 * several results can have spans of one id, in traces of which each has scores of its own.
 */
export function scoresOfResults(
  scope: ReadScope,
  asked: SomeResults,
  { columns, names, ofTraces, ofResult = [] }: ResultScoresAsked,
): Sql {
  const read = { columns: ['name', ...columns], ...(names !== undefined && { names }) };
  const column = (table: Sql, name: string) => sql`, ${table}${identifier(name)} AS ${identifier(name)}`;
  const selected = sql`result.ver AS result${join(
    [
      ...ofResult.map((name) => column(sql`result.`, name)),
      ...['ver', ...read.columns].map((name) => column(sql`score.`, name)),
    ],
    '',
  )}`;
  const [id, madeInIt] = [sql`id`, sql`made_in`].map((of) =>
    join([sql`ver`, of, ...ofResult.map((name) => identifier(name))], ', '),
  ) as [Sql, Sql];
  const given = newestGiven('span', scope, { ...read, ids: sql`(SELECT id FROM (${asked.results(sql`id`)}))` });
  const own = sql`SELECT ${selected} FROM (${given}) AS score INNER JOIN (${asked.results(id)}) AS result ON result.id = score.scored`;
  if (!ofTraces) return own;
  const ofTrace = ownScores('trace', scope, { ...read, ids: madeIn(asked) });
  const alone = asked.haveShared
    ? sql`SELECT ${madeInIt} FROM (${asked.results(madeInIt)}) WHERE (experiment_id, made_in) NOT IN ${shared(scope, asked)}`
    : asked.results(madeInIt);
  return sql`SELECT * FROM (
    ${own}
    UNION ALL
    SELECT ${selected} FROM (${ofTrace}) AS score INNER JOIN (${alone}) AS result ON result.made_in = score.scored
  ) ORDER BY result, name, ver DESC LIMIT 1 BY result, name`;
}

/** Rows of `scored`, `name`, `ver` and columns: of each name the newest score that spans, or traces, have themselves. @param asked columns: `name`, and more */
function newestGiven(of: 'span' | 'trace', scope: ReadScope, asked: Parameters<typeof ownScores>[2]): Sql {
  // In the order in which they are stored.
  return sql`SELECT * FROM (${ownScores(of, scope, asked)}) ORDER BY name, scored, ver DESC LIMIT 1 BY name, scored`;
}
