import type { ListQuery } from '../model/list/query.js';
import { empty, identifier, join, sql, type Sql } from '../clickhouse/client/sql.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { tagged } from '../read/tags.js';
import { current } from '../read/visibility.js';
import { spanConditions, textFound } from './conditions.js';
import { memberships, tracesIn } from './membership.js';
import { rows } from './rows.js';
import { traceSource, type ListSource } from './sources.js';

/*
 * What traces and sessions are found by though it is not theirs alone: a trace is found by a text of its spans, by filters that one of them meets, and by a tag
 * of its own or of any of its spans; a session by those of its traces. Several tags may be at different places.
 */

/** The only objects that are asked about, so that little is read: their spans are found by their times, which the facts know. */
export interface AskedAbout {
  /** A set of ids. */
  readonly ids: Sql;
}

/** Whether a query of traces or sessions asks for anything that they hold. */
export function asksOfHeld({ search, tags, filters }: Pick<ListQuery, 'search' | 'tags' | 'filters'>): boolean {
  return search !== null || tags.size > 0 || filters.some(({ filter }) => filter.ofSpans === true);
}

/** The conditions that a query puts on what the objects of a list hold. @param asked default: about all */
export function heldConditions(
  source: ListSource,
  scope: ReadScope,
  { search, tags, filters }: Pick<ListQuery, 'search' | 'tags' | 'filters'>,
  asked: AskedAbout | null = null,
): Sql[] {
  const ofSpans = spanConditions({ filters });
  const held = new Held(scope, new Map(asked === null ? [] : askedBySource(source, scope, asked)));
  return [
    ...(search === null ? [] : [sql`id IN (${held.withSpan(source, textFound(search, scope.within))})`]),
    ...(ofSpans.length === 0 ? [] : [sql`id IN (${held.withSpan(source, join(ofSpans, ' AND '))})`]),
    ...(tags.size === 0 ? [] : [held.tagged(source, [...tags])]),
  ];
}

/**
 * Rows of `id` and `held`: the texts that the tags of an object, and those of anything in it, come to.
 * @param texts an array of a row's `tags`
 */
export function heldTexts(source: ListSource, scope: ReadScope, texts: Sql, asked: AskedAbout): Sql {
  const held = new Held(scope, new Map(askedBySource(source, scope, asked)));
  return sql`${boundsOf(source, scope, asked)}${held.texts(source, texts)}`;
}

/** The beginning of a statement with {@link heldConditions} about some objects. */
export function boundsOf(source: ListSource, scope: ReadScope, asked: AskedAbout): Sql {
  const traces = new Map(askedBySource(source, scope, asked)).get(traceSource) ?? asked.ids;
  return sql`WITH ${spanTimes(scope, sql`IN ${traces}`)} AS bounds
`;
}

/** Earliest and latest start of the spans of some traces. @param traces a condition on their ids, without the column */
export function spanTimes({ projectId }: ReadScope, traces: Sql): Sql {
  return sql`(SELECT (min(started_at), max(started_at)) FROM facts
  WHERE ${inProject(projectId)} AND trace_id ${traces} AND row_type = 0 AND NOT deleted)`;
}

function askedBySource(source: ListSource, scope: ReadScope, { ids }: AskedAbout): [ListSource, Sql][] {
  return source === traceSource
    ? [[source, ids]]
    : [
        [source, ids],
        [traceSource, tracesIn(scope, ids)],
      ];
}

/** A tag that is asked for: whether the row of a table has it, and the column that says so of what holds the row. */
interface Tag {
  readonly has: Sql;
  readonly found: Sql;
}

class Held {
  readonly #scope: ReadScope;
  /** The only objects that are asked about; empty: all are. */
  readonly #asked: ReadonlyMap<ListSource, Sql>;

  constructor(scope: ReadScope, asked: ReadonlyMap<ListSource, Sql>) {
    this.#scope = scope;
    this.#asked = asked;
  }

  /** Ids of objects with a span that meets a condition. */
  withSpan(source: ListSource, condition: Sql): Sql {
    const traces = this.#spans(sql`trace_id AS id`, condition);
    if (source === traceSource) return traces;
    return sql`SELECT session_id AS id FROM (${memberships(this.#scope, { traces: sql`(${traces})` })})`;
  }

  /** Whether an object, or anything in it, has each of some tags. */
  tagged(source: ListSource, wanted: readonly (readonly [key: string, values: readonly string[]])[]): Sql {
    const tags = wanted.map(([key, values], index) => ({
      has: tagged(key, values),
      found: identifier(`tag_${index}`),
    }));
    const [only, ...more] = tags;
    if (only !== undefined && more.length === 0)
      return sql`(${only.has} OR id IN (SELECT id FROM (${this.#inside(source, tags)})))`;
    const all = join(
      tags.map(({ found }) => sql`max(${found})`),
      ' AND ',
    );
    return sql`id IN (SELECT id FROM (${this.#whole(source, tags)}) GROUP BY id HAVING ${all})`;
  }

  /** Rows of `id` and of which tags were found: in the objects of a list, and in everything inside them. */
  #whole(source: ListSource, tags: readonly Tag[]): Sql {
    return sql`SELECT id${columns(tags)} FROM ${rows(source, this.#scope)}
  WHERE ${inProject(this.#scope.projectId)} AND NOT gone${this.#among(source, sql`id`)} AND ${anyOf(tags)}
  UNION ALL
  ${this.#inside(source, tags)}`;
  }

  /** The same rows, of everything inside the objects of a list. */
  #inside(source: ListSource, tags: readonly Tag[]): Sql {
    if (source === traceSource) return this.#spans(sql`trace_id AS id${columns(tags)}`, anyOf(tags));
    const perTrace = tags.map(({ found }) => sql`, max(${found}) AS ${found}`);
    const founds = tags.map(({ found }) => sql`, ${found}`);
    const traces = this.#asked.get(traceSource);
    return sql`SELECT session_id AS id${join(founds, '')}
  FROM (${memberships(this.#scope, traces === undefined ? {} : { traces })}) AS membership
  INNER JOIN (SELECT id AS trace${join(perTrace, '')} FROM (${this.#whole(traceSource, tags)}) GROUP BY id) AS held
  ON held.trace = membership.trace_id`;
  }

  /** Rows of `id` and `held`, texts of objects and of everything inside them. */
  texts(source: ListSource, texts: Sql): Sql {
    const inside =
      source === traceSource
        ? this.#spans(sql`trace_id AS id, ${texts} AS texts`, sql`notEmpty(texts)`)
        : sql`SELECT session_id AS id, held AS texts
  FROM (${memberships(this.#scope, { traces: this.#asked.get(traceSource) ?? empty })}) AS membership
  INNER JOIN (SELECT id AS trace, held FROM (${this.texts(traceSource, texts)})) AS within
  ON within.trace = membership.trace_id`;
    return sql`SELECT id, groupUniqArrayArray(texts) AS held FROM (
  SELECT id, ${texts} AS texts FROM ${rows(source, this.#scope)}
  WHERE ${inProject(this.#scope.projectId)} AND NOT gone${this.#among(source, sql`id`)} AND notEmpty(texts)
  UNION ALL
  ${inside}
) GROUP BY id`;
  }

  #spans(selected: Sql, condition: Sql): Sql {
    const asked = this.#asked.has(traceSource) ? sql` AND started_at >= bounds.1 AND started_at <= bounds.2` : empty;
    return sql`SELECT ${selected} FROM spans
  WHERE ${inProject(this.#scope.projectId)}${asked}${this.#among(traceSource, sql`trace_id`)} AND ${condition} AND ${current(this.#scope)}`;
  }

  #among(source: ListSource, column: Sql): Sql {
    const ids = this.#asked.get(source);
    return ids === undefined ? empty : sql` AND ${column} IN ${ids}`;
  }
}

const columns = (tags: readonly Tag[]) =>
  join(
    tags.map(({ has, found }) => sql`, ${has} AS ${found}`),
    '',
  );

const anyOf = (tags: readonly Tag[]) =>
  sql`(${join(
    tags.map(({ has }) => has),
    ' OR ',
  )})`;
