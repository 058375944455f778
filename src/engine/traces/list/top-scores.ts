import type { ListQuery } from '../model/list/query.js';
import { SCORED, type Scored } from '../model/score/score.js';
import { join, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope, type StoredNewest } from '../read/scope.js';
import { memberships } from './membership.js';
import { asFilled, newestScores, storedOf, storedOtherwise } from './newest-scores.js';
import { idsAskedFor, idSet } from './rows.js';
import { scoreSortedBy } from './score-filters.js';
import { sessionSource, spanSource, type ListSource } from './sources.js';

/** How many of the first scores are looked at first for each row of the page, many of which are not the newest of an object. */
const FIRST_LOOK: Readonly<Record<ListSource['list']['name'], number>> = { spans: 2, traces: 20, sessions: 60 };
/** Looking at more of them takes longer than looking at all. */
const LAST_LOOK = 8_000;
/** The projection of migration 14 is in this order, which does not by itself make ClickHouse take it. */
export const BY_VALUE = { preferred_optimize_projection_name: 'scores_by_value' } as const;
/** Where so many are found, each granule has some: to look for them in its index takes as long again as to find them. */
export const FOUND_BY_VALUE = { ...BY_VALUE, use_index_for_in_with_subqueries_max_values: '10000' } as const;
/** Sessions whose newest scores are all looked at. */
const FEW = 10_000;
/** How many more are looked at than their share of the first ones suggests. */
const MARGIN = 1.3;
/** Orders of which the first objects are remembered, those asked for last, and so many of each at most. */
const MAX_REMEMBERED = { orders: 200, objects: 1_000 } as const;

/**
 * The first rows of a name's scores in the order of a list, of any version and author. An object whose newest score is among them comes
 * before all whose newest is not.
 */
export interface TopScores {
  /** Every object that one of them may count for. */
  readonly ids: readonly string[];
  /** Their versions. */
  readonly versions: readonly string[];
  /** Whether there are no others. */
  readonly isAll: boolean;
}

interface TopRow {
  readonly type: Scored;
  readonly scored: string;
  readonly version: string;
  /** Equal for equal values. */
  readonly hash: string;
}

/** Whether the order of a list is stored: that of the scores that it is sorted by. */
export function hasStoredOrder(source: ListSource, scope: ReadScope, query: Pick<ListQuery, 'sort'>): boolean {
  const name = scoreSortedBy(query);
  return name !== null && storedOf(source, scope, name) !== undefined;
}

/**
 * Whether so few newest scores are stored that one statement which joins all sessions with them is quicker than two; rows of traces are larger.
 * Not where the first of them can be remembered.
 */
export function isJoined(source: ListSource, scope: ReadScope, query: Pick<ListQuery, 'sort'>): boolean {
  const name = scoreSortedBy(query);
  const stored = name === null ? undefined : storedOf(source, scope, name);
  return source === sessionSource && stored !== undefined && stored.changed.length > 0 && stored.objects <= FEW;
}

/** Finds the page of a list that is sorted by a score without looking at the scores of all objects. */
export class TopScoreSearch {
  readonly #rows: ReadRows;
  readonly #first = new FirstObjects();

  constructor(rows: ReadRows) {
    this.#rows = rows;
  }

  /**
   * @param found reads those that a query finds, of objects whose newest score is among some
   * @returns the page; null when it is not sorted by a score, or reading all is as quick
   */
  async page<T>(
    source: ListSource,
    scope: ReadScope,
    query: ListQuery,
    found: (query: ListQuery, top: TopScores) => Promise<readonly T[]>,
    signal?: AbortSignal,
  ): Promise<readonly T[] | null> {
    const name = scoreSortedBy(query);
    if (name === null || idsAskedFor(query) !== null) return null;
    const wanted = query.offset + query.limit;
    const isStored = storedOf(source, scope, name) !== undefined;
    let look = isStored ? Math.ceil(wanted * MARGIN) : wanted * FIRST_LOOK[source.list.name];
    while (look <= LAST_LOOK) {
      const by = { name, descending: query.descending };
      const top = await (isStored ? this.#topStored : this.#top).call(this, source, scope, by, look, signal);
      // They would not fill it: those without a score come next.
      if (top.ids.length === 0 || (top.isAll && top.ids.length < wanted)) return null;
      const rows = await found({ ...query, offset: 0, limit: wanted }, top);
      if (rows.length >= wanted) return rows.slice(query.offset);
      // Those without a score come next.
      if (top.isAll) return null;
      look = Math.max(look * 2, Math.ceil((look * wanted * MARGIN) / Math.max(1, rows.length)));
    }
    return null;
  }

  async #topStored(
    source: ListSource,
    scope: ReadScope,
    by: By,
    look: number,
    signal?: AbortSignal,
  ): Promise<TopScores> {
    const stored = storedOf(source, scope, by.name);
    const known = stored && this.#first.of(stored, by, look);
    if (known !== undefined) return known;
    const read = (statement: Sql) =>
      this.#rows<{ object: string }>(statement, {
        signal,
        settings: { preferred_optimize_projection_name: 'newest_by_value' },
      });
    const numbers = await read(topStoredNumbers(source, scope, by, look));
    // Texts come behind all numbers.
    const rows = numbers.length < look ? await read(topStored(source, scope, by, look)) : numbers;
    const top = { ids: rows.map(({ object }) => object), versions: [], isAll: rows.length < look };
    if (stored !== undefined) this.#first.add(stored, by, top);
    return top;
  }

  async #top(source: ListSource, scope: ReadScope, by: By, look: number, signal?: AbortSignal): Promise<TopScores> {
    const numbers = await this.#rows<TopRow>(topNumbers(source, scope, by, look), { signal, settings: BY_VALUE });
    const left = look - numbers.length;
    const texts = left === 0 ? [] : await this.#rows<TopRow>(topTexts(source, scope, by, left), { signal });
    const rows = [...numbers, ...texts];
    const isAll = rows.length < look;
    // Of equal values the order is that of objects, which rows of what is in them do not tell.
    const last = source === spanSource || isAll ? undefined : rows.at(-1)?.hash;
    const versions = rows.filter(({ hash }) => hash !== last).map(({ version }) => version);
    return { ids: versions.length === 0 ? [] : await this.#objects(source, scope, rows, signal), versions, isAll };
  }

  async #objects(source: ListSource, scope: ReadScope, rows: readonly TopRow[], signal?: AbortSignal) {
    const of = (type: Scored) => [...new Set(rows.filter((row) => row.type === type).map(({ scored }) => scored))];
    if (source === spanSource) return of('span');
    const read = async (statement: Sql) =>
      (await this.#rows<{ holder: string }>(statement, { signal })).map(({ holder }) => holder);
    const spans = of('span');
    const traces = [...of('trace'), ...(spans.length === 0 ? [] : await read(tracesWith(scope, spans)))];
    if (source !== sessionSource) return [...new Set(traces)];
    const sessions = [...of('session'), ...(traces.length === 0 ? [] : await read(sessionsWith(scope, traces)))];
    return [...new Set(sessions)];
  }
}

/**
 * The first objects of what is stored, which never changes: a filling's number is given once, and later rows are of a later generation. Where some
 * objects are not as they are stored, nothing is remembered.
 */
class FirstObjects {
  /** Those asked for last at the end. */
  readonly #known = new Map<string, TopScores>();

  of(stored: StoredNewest, by: By, look: number): TopScores | undefined {
    const key = keyOf(stored, by);
    const known = key === null ? undefined : this.#known.get(key);
    if (key === null || known === undefined || (known.ids.length < look && !known.isAll)) return undefined;
    this.#known.delete(key);
    this.#known.set(key, known);
    const ids = known.ids.slice(0, look);
    return { ids, versions: [], isAll: known.isAll && ids.length < look };
  }

  add(stored: StoredNewest, by: By, top: TopScores): void {
    const key = keyOf(stored, by);
    if (key === null || top.ids.length > MAX_REMEMBERED.objects) return;
    this.#known.delete(key);
    this.#known.set(key, top);
    const oldest = this.#known.keys().next().value;
    if (this.#known.size > MAX_REMEMBERED.orders && oldest !== undefined) this.#known.delete(oldest);
  }
}

const keyOf = ({ changed, filling, generation }: StoredNewest, { descending }: By) =>
  changed.length > 0 ? null : `${filling} ${generation} ${descending}`;

const INSIDE: Readonly<Record<ListSource['list']['name'], readonly Scored[]>> = {
  spans: ['span'],
  traces: ['span', 'trace'],
  sessions: SCORED,
};

interface By {
  readonly name: string;
  readonly descending: boolean;
}

/** The first objects, where the newest score of each is stored. */
function topStored(source: ListSource, scope: ReadScope, { name, descending }: By, look: number): Sql {
  const direction = descending ? sql`DESC` : sql`ASC`;
  return sql`SELECT toString(scored) AS object FROM (${newestScores(source, scope, name)})
ORDER BY number ${direction} NULLS LAST, text ${direction}, scored ${direction} LIMIT ${value(look, 'UInt64')}`;
}

/** The first of those with a number: in the order of the projection of migration 15, so that reading stops with the last row. */
function topStoredNumbers(source: ListSource, scope: ReadScope, { name, descending }: By, look: number): Sql {
  const stored = storedOf(source, scope, name);
  if (stored === undefined) throw new Error(`nothing is stored of ${name}`);
  const number = descending ? sql`number DESC NULLS FIRST` : sql`number ASC NULLS LAST`;
  const order = sql`ORDER BY ${number}, scored ${descending ? sql`DESC` : sql`ASC`} LIMIT ${value(look, 'UInt64')}`;
  const first = sql`SELECT scored, number FROM newest_scores
  WHERE ${asFilled(source, scope, name, stored)} AND isNotNull(number) ${order}`;
  const others = storedOtherwise(source, scope, name, stored).map(
    (rows) => sql`SELECT scored, number FROM (${rows}) WHERE isNotNull(number) ${order}`,
  );
  const every = join(
    [first, ...others].map((rows) => sql`SELECT * FROM (${rows})`),
    '\nUNION ALL\n',
  );
  return sql`SELECT toString(scored) AS object FROM (${every}) ${order}`;
}

/**
 * The first rows that have a number. What was deleted, or came after the state, is no newest score in it: looking at more columns would take
 * longer. Each type of things is read in the order of the projection, so that reading stops with the last row.
 */
function topNumbers({ list }: ListSource, { projectId }: ReadScope, { name, descending }: By, look: number): Sql {
  // The projection has nulls last, which read backwards come first.
  const number = descending ? sql`number DESC NULLS FIRST` : sql`number ASC NULLS LAST`;
  const order = sql`ORDER BY ${number}, entity_id ${descending ? sql`DESC` : sql`ASC`} LIMIT ${value(look, 'UInt64')}`;
  const each = INSIDE[list.name].map(
    (type) => sql`SELECT entity_type, entity_id, number, ver FROM scores
  WHERE ${inProject(projectId)} AND entity_type = ${literal(type)} AND name = ${value(name, 'String')} AND isNotNull(number)
  ${order}`,
  );
  const every = join(
    each.map((rows) => sql`SELECT * FROM (${rows})`),
    '\nUNION ALL\n',
  );
  return sql`SELECT entity_type AS type, toString(entity_id) AS scored, toString(ver) AS version, toString(number) AS hash
FROM (${every})
${order}`;
}

/** The first of those that come behind all numbers. */
function topTexts({ list }: ListSource, { projectId }: ReadScope, { name, descending }: By, look: number): Sql {
  const direction = descending ? sql`DESC` : sql`ASC`;
  const types = join(INSIDE[list.name].map(literal), ', ');
  return sql`SELECT entity_type AS type, toString(entity_id) AS scored, toString(ver) AS version, concat('t', toString(cityHash64(text))) AS hash
FROM scores WHERE ${inProject(projectId)} AND entity_type IN (${types}) AND name = ${value(name, 'String')} AND isNull(number) AND NOT deleted
ORDER BY text ${direction}, entity_id ${direction} LIMIT ${value(look, 'UInt64')}`;
}

/** Traces that ever had one of some spans. */
function tracesWith({ projectId }: ReadScope, spans: readonly string[]): Sql {
  return sql`SELECT DISTINCT toString(trace_id) AS holder FROM spans WHERE ${inProject(projectId)} AND id IN ${idSet(spans)}`;
}

function sessionsWith(scope: ReadScope, traces: readonly string[]): Sql {
  return sql`SELECT DISTINCT toString(session_id) AS holder FROM (${memberships(scope, { traces: idSet(traces) })})`;
}
