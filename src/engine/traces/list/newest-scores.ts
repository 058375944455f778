import type { ScoreValue } from '../model/score/score.js';
import { empty, join, literal, number, numbers, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope, type StoredNewest } from '../read/scope.js';
import { tracesIn } from './membership.js';
import { objectScores, type ScoresAsked } from './object-scores.js';
import { idSet } from './rows.js';
import { sessionSource, spanSource, traceSource, type ListSource } from './sources.js';

type Among = Pick<ScoresAsked, 'ids' | 'areMany'>;

const COLUMNS = ['kind', 'number', 'text'] as const;

/**
 * Rows of `scored`, the id of an object, and of its newest score of a name: `ver`, `kind`, and `number` or `text`. Of traces and sessions they
 * are stored where the scope says so.
 */
export function newestScores(source: ListSource, scope: ReadScope, name: string, among: Among = {}): Sql {
  const stored = storedOf(source, scope, name);
  const repeated = repeatedSpans(source, scope, name);
  if (stored !== undefined) return storedNewest(source, scope, name, stored, among.ids);
  if (repeated === undefined || among.ids !== undefined) return computedNewest(source, scope, name, among);
  const [single, ...others] = scoresOfSpans(scope, name, repeated);
  const rows = [
    sql`SELECT entity_id AS scored, ver, kind, number, text FROM scores\n  WHERE ${single} AND NOT deleted`,
    ...others.map((newest) => sql`SELECT * FROM (${newest})`),
  ];
  return join(rows, '\n  UNION ALL\n  ');
}

/** What is stored of a name for a list. Undefined: nothing that counts in the state that is read. */
export function storedOf({ list }: ListSource, { newest }: ReadScope, name: string): StoredNewest | undefined {
  return list.name === 'spans' ? undefined : newest?.get(name)?.[list.name];
}

/** Spans with several rows of a name's scores. Undefined: any may have some. */
export function repeatedSpans(source: ListSource, { repeated }: ReadScope, name: string) {
  return source === spanSource ? repeated?.get(name) : undefined;
}

/**
 * The newest scores of all spans: a condition on the rows of `scores` of those with one, then rows of
 * {@link computedNewest} of the others, if there are any.
 */
export function scoresOfSpans(scope: ReadScope, name: string, repeated: readonly string[]): readonly [Sql, ...Sql[]] {
  const ids = idSet(repeated);
  // `identity` keeps the index of `ver` out of it: nearly every granule passes.
  const single = sql`${inProject(scope.projectId)} AND entity_type = 'span' AND name = ${value(name, 'String')}
    AND identity(ver) <= ${value(scope.upTo, 'UInt64')}`;
  if (repeated.length === 0) return [single];
  return [sql`${single} AND entity_id NOT IN ${ids}`, computedNewest(spanSource, scope, name, { ids })];
}

/** The same rows as {@link newestScores}, of the scores themselves. They come in the order of objects: a seventh of the time of an aggregation. */
export function computedNewest(source: ListSource, scope: ReadScope, name: string, among: Among = {}): Sql {
  const ofTraces =
    source === sessionSource && storedOf(traceSource, scope, name) !== undefined
      ? newestScores(traceSource, scope, name, among.ids === undefined ? {} : { ids: tracesIn(scope, among.ids) })
      : undefined;
  const scores = objectScores(source, scope, { columns: COLUMNS, name, ...among, ofTraces });
  return sql`SELECT scored, ver, kind, number, text FROM (${scores}) ORDER BY scored, ver DESC LIMIT 1 BY scored`;
}

/** A condition on `newest_scores`: the rows of one filling. */
export function ofFilling(source: ListSource, scope: Pick<ReadScope, 'projectId'>, name: string, filling: number): Sql {
  return sql`${ofList(source, scope)}
    AND name = ${value(name, 'String')} AND filling = ${number(filling)}`;
}

const ofList = (source: ListSource, { projectId }: Pick<ReadScope, 'projectId'>) =>
  sql`${inProject(projectId)} AND entity_type = ${literal(source === traceSource ? 'trace' : 'session')}`;

function storedNewest(source: ListSource, scope: ReadScope, name: string, stored: StoredNewest, ids?: Sql): Sql {
  const among = ids === undefined ? empty : sql` AND scored IN ${ids}`;
  const others = storedOtherwise(source, scope, name, stored);
  const first = sql`SELECT scored, ver, kind, number, text FROM newest_scores
  WHERE ${asFilled(source, scope, name, stored)}${among}`;
  return join([first, ...others.map((rows) => sql`SELECT * FROM (${rows}) WHERE 1${among}`)], '\n  UNION ALL\n  ');
}

/**
 * What is stored of some objects under some names, with `name`: none of them among the changed ones. A filling is of one name for one list of a
 * project, so that the columns before it in the key are used to find granules, and not read. @param ids a set
 */
export function storedRows(
  source: ListSource,
  scope: ReadScope,
  names: readonly (StoredNewest & { readonly name: string })[],
  ids: Sql,
): Sql {
  const texts = value(
    names.map(({ name }) => name),
    'Array(String)',
  );
  const filled = names.map(
    ({ filling, generation }) => sql`(filling = ${number(filling)} AND generation <= ${number(generation)})`,
  );
  const name = sql`transform(filling, [${numbers(names.map(({ filling }) => filling))}], ${texts}, '')`;
  const rows = sql`SELECT scored, ${name} AS name, kind, number, text, generation FROM newest_scores
    WHERE indexHint(${ofList(source, scope)} AND newest_scores.name IN ${texts}) AND (${join(filled, ' OR ')}) AND scored IN ${ids}`;
  if (names.every(({ generation }) => generation === 0)) return rows;
  return sql`SELECT * FROM (
    SELECT * FROM (${rows}) ORDER BY scored, name, generation DESC LIMIT 1 BY scored, name
  ) WHERE kind != ''`;
}

/** A condition on `newest_scores`: the rows that count as they were when all was filled in. */
export function asFilled(source: ListSource, scope: ReadScope, name: string, stored: StoredNewest): Sql {
  const { filling, generation, changed } = stored;
  const filled = ofFilling(source, scope, name, filling);
  const again = sql` AND scored NOT IN (SELECT scored FROM newest_scores WHERE ${filled} AND ${later(generation)})`;
  return sql`${filled} AND generation = 0${generation === 0 ? empty : again}${notAmong(changed)}`;
}

/** Rows of {@link newestScores} of all other objects: stored since, and computed. */
export function storedOtherwise(source: ListSource, scope: ReadScope, name: string, stored: StoredNewest): Sql[] {
  const { filling, generation, changed } = stored;
  const again = sql`SELECT scored, ver, kind, number, text FROM (
    SELECT * FROM newest_scores WHERE ${ofFilling(source, scope, name, filling)} AND ${later(generation)}${notAmong(changed)}
    ORDER BY scored, generation DESC LIMIT 1 BY scored
  ) WHERE kind != ''`;
  return [
    ...(generation === 0 ? [] : [again]),
    ...(changed.length === 0 ? [] : [computedNewest(source, scope, name, { ids: idSet(changed) })]),
  ];
}

const later = (generation: number) => sql`generation > 0 AND generation <= ${number(generation)}`;

const notAmong = (changed: readonly string[]) =>
  changed.length === 0 ? empty : sql` AND scored NOT IN ${idSet(changed)}`;

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
