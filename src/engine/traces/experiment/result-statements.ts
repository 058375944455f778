import type { ResultQuery } from '../model/experiment/results.js';
import { empty, join, listOf, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { excerpt } from '../read/excerpt.js';
import { ownScores } from '../list/object-scores.js';
import { idSet, rows } from '../list/rows.js';
import { traceSource } from '../list/sources.js';
import { IS_RESULT, markedRows, ofExperiment } from './marked-rows.js';
import { SEVERAL } from './result-scores.js';

/** A row of {@link results}: what the span of a result says. */
export interface ResultRow {
  readonly span: string;
  readonly made: string;
  readonly row_id: string;
  readonly repetition: number;
  readonly version: string;
  readonly received: string;
  readonly started: string;
  readonly has_error: 0 | 1;
  readonly cost: string | null;
  readonly duration_ms: number | null;
  readonly input: string | null;
  readonly output: string | null;
}

/** What the span of a result says of it, beside its place. */
export const SPAN_COLUMNS = sql`id, made_in, ver, received, started_at, has_error, cost, duration_ms, input_tokens, output_tokens`;

/** Of the spans of each result the newest, in the order of rows and repetitions. */
export function newest(scope: ReadScope, columns: Sql, conditions: readonly Sql[]): Sql {
  return sql`${markedRows(scope, columns, [...conditions, IS_RESULT])}
  ORDER BY project_id, experiment_id, row_id, repetition, written DESC, ver DESC LIMIT 1 BY experiment_id, row_id, repetition`;
}

const RESULT = sql`toString(id) AS span, toString(made_in) AS made, row_id, repetition, toString(ver) AS version, toString(received) AS received,
  toString(toUnixTimestamp64Micro(started_at)) AS started, has_error, toString(cost) AS cost, duration_ms,
  toString(input_tokens) AS input, toString(output_tokens) AS output`;

function asked({ experimentId, repetition, rowIds }: ResultQuery): Sql[] {
  return [
    ofExperiment(experimentId),
    ...(rowIds === null ? [] : [sql`row_id IN ${value(rowIds, 'Array(String)')}`]),
    ...(repetition === null ? [] : [sql`repetition = ${value(repetition, 'UInt64')}`]),
  ];
}

const withError = ({ hasError }: ResultQuery) =>
  hasError === null ? empty : sql` WHERE has_error = ${value(hasError ? 1 : 0, 'UInt8')}`;

/** A page of results: where all of them are meant, reading stops with it. */
export function resultPage(scope: ReadScope, query: ResultQuery): Sql {
  const results = newest(scope, sql`row_id, repetition, ${SPAN_COLUMNS}`, asked(query));
  const window = sql`LIMIT ${value(query.limit, 'UInt64')} OFFSET ${value(query.offset, 'UInt64')}`;
  if (query.firstOnly === true)
    return sql`SELECT ${RESULT} FROM (${results})${withError(query)} ORDER BY row_id, repetition LIMIT 1 BY row_id ${window}`;
  if (query.hasError === null) return sql`SELECT ${RESULT} FROM (${results} ${window})`;
  return sql`SELECT ${RESULT} FROM (${results})${withError(query)}
ORDER BY row_id, repetition ${window}`;
}

export function resultCount(scope: ReadScope, query: ResultQuery): Sql {
  return sql`SELECT toString(count()) AS total FROM (${newest(scope, sql`row_id, repetition, has_error`, asked(query))})${withError(query)}`;
}

/** The place of a result in the order of all. */
export type ResultPlace = Pick<ResultRow, 'row_id' | 'repetition'>;

/** A row with results, and which: its repetitions as bits. */
export interface PresentRow {
  readonly row: string;
  readonly repetitions: number;
}

const PRESENT = sql`row_id AS row, groupBitOr(bitShiftLeft(toUInt32(1), repetition - 1)) AS repetitions`;

/** Which of some rows have results. */
export function presentAmong(scope: ReadScope, experiment: string, rowIds: readonly string[]): Sql {
  const conditions = [ofExperiment(experiment), sql`row_id IN ${value(rowIds, 'Array(String)')}`];
  return sql`${markedRows(scope, PRESENT, conditions)} GROUP BY row_id`;
}

/** The rows behind one, or the first, that have results. Read in their order, so that little is in memory. */
export function presentAfter(scope: ReadScope, experiment: string, after: string, limit: number): Sql {
  const conditions = [ofExperiment(experiment), sql`row_id > ${value(after, 'String')}`];
  return sql`${markedRows(scope, PRESENT, conditions)}
GROUP BY project_id, experiment_id, row_id ORDER BY project_id, experiment_id, row_id LIMIT ${value(limit, 'UInt64')}
SETTINGS optimize_aggregation_in_order = 1`;
}

/** What some traces took, and others that are not rolled up. @param set of their ids */
export function takenBy(scope: ReadScope, set: Sql): Sql {
  return sql`SELECT id, cost, duration_ms, input_tokens, output_tokens
    FROM ${rows(traceSource, scope, { by: 'set', set })} WHERE ${inProject(scope.projectId)} AND NOT gone`;
}

/** A row of {@link outlinesAfter}. */
export interface OutlineRow extends ResultPlace {
  readonly span: string;
  readonly version: string;
  readonly trace: string;
  readonly made: string;
  readonly started: string;
  readonly has_error: 0 | 1;
  readonly has_output: 0 | 1;
}

/** Where the spans of the results behind one, or of the first, are, and whether they have an output. */
export function outlinesAfter(scope: ReadScope, experiment: string, after: ResultPlace | null, limit: number): Sql {
  const conditions = after === null ? [ofExperiment(experiment)] : [ofExperiment(experiment), beyond(after)];
  const results = sql`${newest(scope, sql`row_id, repetition, id, trace_id, made_in, ver, started_at, has_error`, conditions)} LIMIT ${value(limit, 'UInt64')}`;
  return sql`SELECT toString(result.id) AS span, toString(result.ver) AS version, toString(result.trace_id) AS trace, toString(result.made_in) AS made, result.row_id AS row_id, result.repetition AS repetition,
  toString(toUnixTimestamp64Micro(result.started_at)) AS started, result.has_error AS has_error, toUInt8(span.ver != 0) AS has_output
FROM (${results}) AS result
LEFT ANY JOIN (
  SELECT ver FROM spans WHERE ${inProject(scope.projectId)} AND NOT no_output
    AND started_at IN (SELECT started_at FROM (${results})) AND ver IN (SELECT ver FROM (${results}))
) AS span ON span.ver = result.ver
ORDER BY row_id, repetition`;
}

/** The ids of the results behind one, or of the first. */
export function idsAfter(scope: ReadScope, experiment: string, after: ResultPlace | null, limit: number): Sql {
  const conditions = after === null ? [ofExperiment(experiment)] : [ofExperiment(experiment), beyond(after)];
  return sql`SELECT toString(id) AS span, row_id, repetition
FROM (${newest(scope, sql`row_id, repetition, id`, conditions)} LIMIT ${value(limit, 'UInt64')})`;
}

/** Behind a place. The first condition is for the index. */
export function beyond({ row_id, repetition }: ResultPlace): Sql {
  const row = value(row_id, 'String');
  return sql`row_id >= ${row} AND (row_id > ${row} OR repetition > ${value(repetition, 'UInt64')})`;
}

/** All marked spans behind a version of a place, or the first. */
export function spansAfter(
  scope: ReadScope,
  experiment: string,
  after: (ResultPlace & { readonly version: string }) | null,
  limit: number,
): Sql {
  const behind = after === null ? [] : [beyondVersion(after)];
  return sql`${markedRows(scope, sql`toString(id) AS span, toString(trace_id) AS trace, row_id, repetition, toString(ver) AS version`, [ofExperiment(experiment), ...behind])}
ORDER BY row_id, repetition, ver LIMIT ${value(limit, 'UInt64')}`;
}

function beyondVersion({ row_id, repetition, version }: ResultPlace & { readonly version: string }): Sql {
  const [row, number] = [value(row_id, 'String'), value(repetition, 'UInt64')];
  return sql`row_id >= ${row} AND (row_id > ${row} OR repetition > ${number} OR (repetition = ${number} AND ver > ${value(version, 'UInt64')}))`;
}

/** Which of some traces several results of an experiment were made in. */
export function sharedTraces(scope: ReadScope, experiment: string, traces: readonly string[]): Sql {
  const ids = sql`made_in IN ${idSet(traces)}`;
  return sql`SELECT toString(made_in) AS id FROM (${markedRows(scope, sql`made_in, row_id, repetition`, [ofExperiment(experiment), IS_RESULT, ids])})
GROUP BY made_in HAVING ${SEVERAL}`;
}

/** A row of {@link tracesOf}. */
export interface TraceRow {
  readonly id: string;
  readonly cost: string | null;
  readonly duration_ms: number | null;
  readonly input: string | null;
  readonly output: string | null;
}

/** What traces took. */
export function tracesOf(scope: ReadScope, ids: readonly string[]): Sql {
  return sql`SELECT toString(id) AS id, toString(cost) AS cost, duration_ms, toString(input_tokens) AS input, toString(output_tokens) AS output
FROM ${rows(traceSource, scope, { by: 'ids', ids })} WHERE ${inProject(scope.projectId)} AND NOT gone`;
}

/** A row of {@link scoresOf}. */
export interface ScoreRow {
  readonly of: 'span' | 'trace';
  readonly object: string;
  readonly name: string;
  readonly kind: string;
  readonly number: number | null;
  readonly text: string;
  readonly version: string;
}

/** Whose scores are read, and which. */
export interface ScoresOf {
  readonly spans: readonly string[];
  readonly traces: readonly string[];
  /** The only names; absent: any. */
  readonly names?: readonly string[];
  /** Longer texts have their middle left out. */
  readonly longest: number;
}

/** The newest scores that some spans and traces have themselves. */
export function scoresOf(scope: ReadScope, { spans, traces, names, longest }: ScoresOf): Sql {
  const asked = { columns: ['name', 'kind', 'number', 'text'], ...(names !== undefined && { names }) };
  const own = (of: ScoreRow['of'], ids: readonly string[]) =>
    ids.length === 0
      ? []
      : [sql`SELECT *, ${literal(of)} AS of FROM (${ownScores(of, scope, { ...asked, ids: idSet(ids) })})`];
  const scores = join([...own('span', spans), ...own('trace', traces)], ' UNION ALL ');
  return sql`SELECT of, toString(scored) AS object, name, kind, number, ${excerpt(sql`text`, longest)} AS text, toString(ver) AS version FROM (
  SELECT * FROM (${scores}) ORDER BY of, scored, name, ver DESC LIMIT 1 BY of, scored, name
)`;
}

/** A row of {@link textsOf}. */
export interface TextRow {
  readonly version: string;
  readonly output: string | null;
  readonly message: string | null;
}

/** Where a span with texts is. */
export type TextPlace = Pick<ResultRow, 'version' | 'started'>;

/** A row of {@link rootsOf}. */
export interface RootRow extends TextPlace {
  readonly id: string;
}

/** The root spans of traces, where they have any. */
export function rootsOf(scope: ReadScope, traces: readonly string[]): Sql {
  return sql`SELECT toString(id) AS id, toString(root_ver) AS version, toString(toUnixTimestamp64Micro(root_started_at)) AS started
FROM ${rows(traceSource, scope, { by: 'ids', ids: traces })} WHERE ${inProject(scope.projectId)} AND NOT gone AND root_ver != 0`;
}

/** The texts of spans of results. */
export function textsOf(scope: ReadScope, results: readonly TextPlace[]): Sql {
  return sql`SELECT toString(ver) AS version, output_data AS output, error_message AS message ${spansOf(scope, results)}`;
}

/** A row of {@link textBytesOf}. */
export interface TextBytesRow {
  readonly version: string;
  readonly bytes: string;
}

/** How many bytes {@link textsOf} has of each. */
export function textBytesOf(scope: ReadScope, results: readonly TextPlace[]): Sql {
  return sql`SELECT toString(ver) AS version, toString(ifNull(length(output_data), 0) + ifNull(length(error_message), 0)) AS bytes ${spansOf(scope, results)}`;
}

/** Which of some spans have an output. */
export function withOutput(scope: ReadScope, places: readonly TextPlace[]): Sql {
  return sql`SELECT toString(ver) AS version ${spansOf(scope, places)} AND NOT no_output`;
}

function spansOf({ projectId }: ReadScope, results: readonly TextPlace[]): Sql {
  const of = (column: 'started' | 'version') => results.map((result) => result[column]);
  const times = sql`SELECT fromUnixTimestamp64Micro(arrayJoin(${listOf('Int64', of('started'))}), 'UTC')`;
  return sql`FROM spans
WHERE ${inProject(projectId)} AND started_at IN (${times}) AND ver IN ${listOf('UInt64', of('version'))}`;
}
