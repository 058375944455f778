import type { MeasuredResult } from '../model/experiment/results.js';
import { empty, identifier, join, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { excerpt } from '../read/excerpt.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { IS_RESULT, ofExperiment } from './marked-rows.js';
import { shared } from './result-scores.js';
import { beyond, newest, SPAN_COLUMNS, takenBy, type ResultPlace } from './result-statements.js';

/*
 * What all results of an experiment measured, which comparisons read: a line of JSON for each, in which a score is three columns.
 */

/** What is read of all results of an experiment. */
export interface MeasuredAsked {
  readonly experiment: string;
  /** The only scores. */
  readonly names: readonly string[];
  /** Whether traces may have any of these. */
  readonly ofTraces: boolean;
  /** Whether there are traces in which several of the results were made. */
  readonly haveShared: boolean;
}

/** Results from one place to another. */
export interface Places {
  /** Behind which place they begin; null: with the first one. */
  readonly after: ResultPlace | null;
  /** With which place they end; null: with the last one. */
  readonly last: ResultPlace | null;
}

/** A line of {@link measured}. */
export type MeasuredLine = readonly [
  span: string,
  row: string,
  repetition: number,
  hasError: 0 | 1,
  /** The trace whose scores count for the result; empty: none. */
  made: string,
  cost: number | null,
  duration: number | null,
  input: number | null,
  output: number | null,
  /** Of each name three: which of {@link KIND} it is, its number, and its text. */
  ...scores: (number | string)[],
];

const FIRST_SCORE = 9;
const SCORE_COLUMNS = ['kind', 'number', 'text'] as const;
/** What the newest row of a name is. Behind one that was removed, a score of another author may count. */
const KIND = { none: 0, number: 1, boolean: 2, text: 3, removed: 4 } as const;

/** A row of {@link resultSpans}. */
export interface ResultSpans {
  readonly spans: string;
  readonly traces: string;
}

/** How many versions of spans of results an experiment has, replaced ones too, and of how many traces; of `most` at most. */
export function resultSpans({ projectId }: ReadScope, experiment: string, most: number): Sql {
  return sql`SELECT toString(count()) AS spans, toString(uniqExact(made_in)) AS traces FROM (
  SELECT made_in FROM experiment_spans WHERE ${allOf([inProject(projectId), ofExperiment(experiment), IS_RESULT])} LIMIT ${value(most, 'UInt64')}
)`;
}

/** The place of the last of so many versions of spans behind one; no row: there are fewer. */
export function lastOf({ projectId }: ReadScope, experiment: string, after: ResultPlace | null, spans: number): Sql {
  const conditions = [inProject(projectId), ...within(experiment, { after, last: null })];
  return sql`SELECT row_id, repetition FROM experiment_spans WHERE ${allOf(conditions)}
ORDER BY project_id, experiment_id, row_id, repetition LIMIT 1 OFFSET ${value(spans - 1, 'UInt64')}`;
}

/**
 * The results at some places, in their order, with what their traces took and the newest scores of some names.
 * @param longest longer texts of scores have their middle left out
 */
export function measured(scope: ReadScope, asked: MeasuredAsked, places: Places, longest: number): Sql {
  const conditions = within(asked.experiment, places);
  // Spans that were replaced, too: what they have joins no result, and telling them apart takes longer than to read it.
  const idsOf = (column: 'id' | 'made_in') =>
    sql`(SELECT ${identifier(column)} FROM experiment_spans WHERE ${allOf([inProject(scope.projectId), ...conditions])})`;
  const results = (columns: Sql) => newest(scope, sql`experiment_id, row_id, repetition, ${columns}`, conditions);
  const some = { results, experiments: [ofExperiment(asked.experiment)], haveShared: asked.haveShared };
  const columns = asked.haveShared
    ? sql`${SPAN_COLUMNS}, (experiment_id, made_in) IN ${shared(scope, some)} AS is_shared`
    : sql`id, made_in, has_error, 0 AS is_shared`;
  const scored = (of: 'span' | 'trace', ids: Sql) => newestOfNames(of, scope, asked.names, ids, longest);
  const hasScores = asked.names.length > 0;
  const own = hasScores
    ? sql`\nLEFT ANY JOIN (${scored('span', idsOf('id'))}) AS own ON own.scored = result.id`
    : empty;
  const ofTraces =
    hasScores && asked.ofTraces
      ? sql`\nLEFT ANY JOIN (${scored('trace', idsOf('made_in'))}) AS whole ON whole.scored = result.made_in`
      : empty;
  const made = asked.ofTraces ? sql`if(result.is_shared, '', toString(result.made_in))` : sql`''`;
  return sql`SELECT toString(result.id), result.row_id, result.repetition, result.has_error, ${made}, ${join([...takenOf(asked), ...scoresOf(asked)], ', ')}
FROM (${results(columns)}) AS result
LEFT ANY JOIN (${takenBy(scope, idsOf('made_in'))}) AS trace ON trace.id = result.made_in${own}${ofTraces}
ORDER BY result.row_id, result.repetition
FORMAT JSONCompactEachRow SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0`;
}

/** What a result took: its trace, or where several were made in that, its span. */
function takenOf({ haveShared }: MeasuredAsked): Sql[] {
  return ['cost', 'duration_ms', 'input_tokens', 'output_tokens'].map(identifier).map((column) => {
    return haveShared ? sql`if(result.is_shared, result.${column}, trace.${column})` : sql`trace.${column}`;
  });
}

/** The columns of scores: of one of the span and one of the trace, those of the later version. */
function scoresOf({ names, ofTraces }: MeasuredAsked): Sql[] {
  return names.flatMap((_name, place) =>
    SCORE_COLUMNS.map((column) => {
      const at = (of: string) => identifier(`${of}_${place}`);
      const own = sql`own.${at(column)}`;
      if (!ofTraces) return own;
      return sql`if(NOT result.is_shared AND whole.${at('version')} > own.${at('version')}, whole.${at(column)}, ${own})`;
    }),
  );
}

/**
 * Rows of `scored` with the newest row of each name in columns. By groups, as they are joined in any order; a row that was
 * removed is told from others by its kind alone.
 */
function newestOfNames(
  of: 'span' | 'trace',
  scope: ReadScope,
  names: readonly string[],
  ids: Sql,
  longest: number,
): Sql {
  const { projectId, upTo } = scope;
  const columns = names.flatMap((name, place) => {
    const isOne = sql`name = ${value(name, 'String')}`;
    return [
      sql`maxIf(ver, ${isOne}) AS ${identifier(`version_${place}`)}`,
      ...SCORE_COLUMNS.map(
        (column) => sql`argMaxIf(${identifier(`its_${column}`)}, ver, ${isOne}) AS ${identifier(`${column}_${place}`)}`,
      ),
    ];
  });
  const { boolean, number, removed, text } = KIND;
  const kind = sql`multiIf(deleted = 1, ${literalOf(removed)}, kind = 'boolean', ${literalOf(boolean)}, isNull(number), ${literalOf(text)}, ${literalOf(number)})`;
  return sql`SELECT scored, ${join(columns, ', ')} FROM (
    SELECT entity_id AS scored, name, ver, ${kind} AS its_kind, ifNull(number, 0) AS its_number, ${excerpt(sql`text`, longest)} AS its_text
    FROM scores
    WHERE ${inProject(projectId)} AND entity_type = ${literal(of)} AND name IN ${value(names, 'Array(String)')}
      AND entity_id IN ${ids} AND ver <= ${value(upTo, 'UInt64')}
  ) GROUP BY scored`;
}

const literalOf = (kind: number) => sql`toUInt8(${value(kind, 'UInt8')})`;

function within(experiment: string, { after, last }: Places): Sql[] {
  return [
    ofExperiment(experiment),
    IS_RESULT,
    ...(after === null ? [] : [beyond(after)]),
    ...(last === null ? [] : [notBeyond(last)]),
  ];
}

/** The first condition is for the index. */
function notBeyond({ row_id, repetition }: ResultPlace): Sql {
  const row = value(row_id, 'String');
  return sql`row_id <= ${row} AND (row_id < ${row} OR repetition <= ${value(repetition, 'UInt64')})`;
}

const allOf = (conditions: readonly Sql[]) => join(conditions, ' AND ');

/** Whether a score of a line has to be looked up: that of another author may count. */
export function isUncertain(line: MeasuredLine): boolean {
  for (let place = FIRST_SCORE; place < line.length; place += SCORE_COLUMNS.length)
    if (line[place] === KIND.removed) return true;
  return false;
}

/** @param known its scores, where they were looked up */
export function toMeasured(
  line: MeasuredLine,
  names: readonly string[],
  known: MeasuredResult['scores'] | undefined,
): MeasuredResult {
  const [id, row_id, repetition, hasError, , cost, duration_ms, input_tokens, output_tokens] = line;
  const taken = { cost, duration_ms, input_tokens, output_tokens };
  return { id, row_id, repetition, has_error: hasError === 1, ...taken, scores: known ?? scoresIn(line, names) };
}

function scoresIn(line: MeasuredLine, names: readonly string[]): MeasuredResult['scores'] {
  const found: [string, number | boolean | string][] = [];
  for (const [place, name] of names.entries()) {
    const at = FIRST_SCORE + place * SCORE_COLUMNS.length;
    const [kind, number, text] = [line[at], line[at + 1], line[at + 2]];
    if (kind === KIND.boolean) found.push([name, number === 1]);
    else if (kind === KIND.number) found.push([name, Number(number)]);
    else if (kind === KIND.text) found.push([name, String(text)]);
  }
  // Not by assignment: a name may be that of the prototype.
  return Object.fromEntries(found);
}
