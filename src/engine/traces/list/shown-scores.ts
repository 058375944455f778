import type { namedFields } from '../model/list/fields.js';
import type { ListQuery } from '../model/list/query.js';
import { empty, number, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { excerpt } from '../read/excerpt.js';
import type { ReadRows } from '../read/row-reader.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { storedOf, storedRows } from './newest-scores.js';
import { objectScores } from './object-scores.js';
import { idSet } from './rows.js';
import { RememberedScores } from './remembered-scores.js';
import { spanSource, type ListSource } from './sources.js';
import type { Version } from '../write/version-clock.js';

/** Names of scores that a row shows. */
export const MAX_SHOWN_SCORES = 100;
/** Characters of a text, unless the query says how many. */
const SHOWN_TEXT = 1_000;
const FIELD = 'scores' satisfies keyof typeof namedFields;
const COLUMNS = ['name', 'kind', 'number', 'text'] as const;

/** Whether a query wants the scores of its objects, which are looked up for the rows of a page alone. */
export function showsScores({ fields }: Pick<ListQuery, 'fields'>): boolean {
  return fields?.includes(FIELD) ?? false;
}

/** A query that does not. */
export function withoutScores<T extends Pick<ListQuery, 'fields'>>(query: T): T {
  return showsScores(query) ? { ...query, fields: query.fields?.filter((field) => field !== FIELD) ?? null } : query;
}

/** A row of {@link withoutScores}, and the id of its object. */
export interface Unscored {
  readonly id: string;
  readonly row: string;
}

/** Shows scores of the rows of pages. */
export class ShownScores {
  readonly #written: ((projectId: string) => Version) | null;
  readonly #remembered = new RememberedScores<ShownScore>();

  /** @param written the last version of a project that was stored; null: of spans, nothing is remembered */
  constructor(written: ((projectId: string) => Version) | null) {
    this.#written = written;
  }

  /** Rows of a page as JSON objects, each with its scores behind all others. */
  async with(
    source: ListSource,
    scope: ReadScope,
    query: ListQuery,
    rows: readonly Unscored[],
    read: ReadRows,
  ): Promise<string[]> {
    if (!showsScores(query) || rows.length === 0) return rows.map(({ row }) => row);
    const ids = rows.map(({ id }) => id);
    const found =
      source === spanSource
        ? await this.#ofSpans(scope, query, ids, read)
        : await this.#ofHolders(source, scope, query, ids, read);
    const scores = new Map<string, ShownScore[]>();
    for (const score of found) {
      const others = scores.get(score.id);
      if (others === undefined) scores.set(score.id, [score]);
      else others.push(score);
    }
    return rows.map(({ id, row }) => {
      const shown = (scores.get(id) ?? []).sort((one, other) => (one.name < other.name ? -1 : 1));
      const members = shown.slice(0, MAX_SHOWN_SCORES).map((score) => `${JSON.stringify(score.name)}:${jsonOf(score)}`);
      return `${row.slice(0, -1)}${row === '{}' ? '' : ','}"${FIELD}":{${members.join(',')}}}`;
    });
  }

  /** The newest scores of spans: the same in each state without a write since the last that is stored. */
  #ofSpans(scope: ReadScope, query: ListQuery, ids: readonly string[], read: ReadRows): Promise<ShownScore[]> {
    const written = this.#written?.(scope.projectId) ?? Infinity;
    if (written > scope.upTo) return scoresOfSpans(scope, query, ids, read);
    const state = `${scope.projectId} ${written} ${query.textLimit}`;
    return this.#remembered.of(state, ids, (some) => scoresOfSpans(scope, query, some, read));
  }

  /** Those of traces or sessions: stored ones of the names of which these are, and others, which are computed. */
  async #ofHolders(
    source: ListSource,
    scope: ReadScope,
    query: ListQuery,
    ids: readonly string[],
    read: ReadRows,
  ): Promise<ShownScore[]> {
    const { scoreNames } = scope;
    if (scoreNames?.length === 0) return [];
    const computed = (of: readonly string[], names?: readonly string[]) =>
      of.length === 0 || names?.length === 0
        ? []
        : [read<ShownScore>(computedScores(source, scope, query, of, names), BY_KEY)];
    const stored = (scoreNames ?? []).flatMap((name) => {
      const of = storedOf(source, scope, name);
      return of === undefined ? [] : [{ name, ...of }];
    });
    if (stored.length === 0) return (await Promise.all(computed(ids, scoreNames))).flat();
    const names = stored.map(({ name }) => name);
    const changed = new Set(stored.flatMap((of) => of.changed));
    const [again, still] = [ids.filter((id) => changed.has(id)), ids.filter((id) => !changed.has(id))];
    // What is stored never changes.
    const state = [...stored.map(({ filling, generation }) => `${filling}.${generation}`), query.textLimit].join(' ');
    const asStored = this.#remembered.of(state, still, (some) =>
      read<ShownScore>(
        sql`SELECT ${selectedOf(query)} FROM (${storedRows(source, scope, stored, idSet(some))})`,
        BY_KEY,
      ),
    );
    const others = scoreNames?.filter((name) => !names.includes(name));
    return (await Promise.all([asStored, ...computed(ids, others), ...computed(again, names)])).flat();
  }
}

/** A score of an object, the newest of its name. */
interface ShownScore {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly number: number | null;
  readonly text: string;
}

/** They are few and found by the table's key, so that looking for better ways takes longer than reading them. */
const BY_KEY = { settings: { optimize_use_projections: 0, use_skip_indexes: 0 } } as const;
/** In the projection of migration 16, those of a span lie together. */
const BY_OBJECT = {
  settings: { preferred_optimize_projection_name: 'scores_by_object', use_skip_indexes: 0 },
} as const;

function jsonOf({ kind, number, text }: ShownScore): string {
  if (kind === 'boolean') return String(number === 1);
  return JSON.stringify(kind === 'numeric' ? number : text);
}

/**
 * What spans are joined with to show their scores: `shown_scores`, a JSON object of the newest of each name.
 * @param ids a set: those of the rows
 */
export function shownScoresJoin(scope: ReadScope, query: ListQuery, ids: Sql): Sql {
  if (!showsScores(query)) return empty;
  const scores = objectScores(spanSource, scope, { columns: COLUMNS, ids });
  return sql` LEFT ANY JOIN (
  ${shownOf(query, scores)}
) AS objects_with_scores ON objects_with_scores.shown_of = id`;
}

function shownOf(query: ListQuery, scores: Sql): Sql {
  return sql`SELECT shown_of, concat('{', arrayStringConcat(arraySort(groupArray(member)), ','), '}') AS shown_scores FROM (
    SELECT scored AS shown_of, concat(toJSONString(name), ':', ${jsonValue(query)}) AS member FROM (
      SELECT * FROM (${scores}) ORDER BY scored, name, ver DESC LIMIT 1 BY scored, name
    ) ORDER BY shown_of, name LIMIT ${number(MAX_SHOWN_SCORES)} BY shown_of
  ) GROUP BY shown_of`;
}

/** The newest scores of some spans. */
async function scoresOfSpans(
  scope: ReadScope,
  query: ListQuery,
  ids: readonly string[],
  read: ReadRows,
): Promise<ShownScore[]> {
  const newest = await read<ShownScore & { readonly deleted: number }>(newestRows(scope, query, ids), BY_OBJECT);
  // Then a score of another author may be the newest that there is.
  const again = new Set(newest.flatMap(({ id, deleted }) => (deleted === 1 ? [id] : [])));
  if (again.size === 0) return newest;
  const others = await read<ShownScore>(computedScores(spanSource, scope, query, [...again]), BY_KEY);
  return [...newest.filter(({ id }) => !again.has(id)), ...others];
}

/** The newest row of each name of some spans, which may be a tombstone: of columns that the projection of migration 16 has. */
function newestRows({ projectId, upTo }: ReadScope, query: ListQuery, ids: readonly string[]): Sql {
  return sql`SELECT toString(scored) AS id, name, kind, number, ${shownText(query)} AS text, deleted FROM (
  SELECT entity_id AS scored, name, kind, number, text, deleted FROM scores
  WHERE ${inProject(projectId)} AND entity_type = 'span' AND entity_id IN ${idSet(ids)} AND ver <= ${value(upTo, 'UInt64')}
  ORDER BY entity_id, name, ver DESC LIMIT 1 BY entity_id, name
) ORDER BY scored, name LIMIT ${number(MAX_SHOWN_SCORES)} BY scored`;
}

const shownText = ({ textLimit }: ListQuery) => excerpt(sql`text`, textLimit ?? SHOWN_TEXT);

const selectedOf = (query: ListQuery) => sql`toString(scored) AS id, name, kind, number, ${shownText(query)} AS text`;

/** Rows of {@link ShownScore} of some objects. @param names the only ones; absent: any */
function computedScores(
  source: ListSource,
  scope: ReadScope,
  query: ListQuery,
  ids: readonly string[],
  names?: readonly string[],
): Sql {
  const asked = { columns: COLUMNS, ids: idSet(ids), ...(names && { names }) };
  return sql`SELECT ${selectedOf(query)} FROM (
  SELECT * FROM (${objectScores(source, scope, asked)}) ORDER BY scored, name, ver DESC LIMIT 1 BY scored, name
) ORDER BY scored, name LIMIT ${number(MAX_SHOWN_SCORES)} BY scored`;
}

function jsonValue(query: ListQuery): Sql {
  return sql`multiIf(kind = 'boolean', if(number = 1, 'true', 'false'), kind = 'numeric', toString(assumeNotNull(number)),
      toJSONString(${shownText(query)}))`;
}
