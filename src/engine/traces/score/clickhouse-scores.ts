import type { Score, ScorePlace } from '../model/score/score.js';
import type { ScoreQuery, Scores, StoredScore } from '../model/score/scores.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { empty, join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { openReader, type ReadLimits, type ReadOptions, type ReadRows } from '../read/row-reader.js';
import type { ReadsInProgress, Wanted } from '../read/reads-in-progress.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { tracesIn } from '../list/membership.js';
import { factsOf, standing } from '../read/visibility.js';
import type { CommitLog } from '../write/commit-log.js';
import { versionOf } from '../write/version-clock.js';
import { latestScores, scoredVersion } from './latest.js';
import { SCORE_COLUMNS, toScore, WHOLE_SCORE, type ScoreRow } from './score-rows.js';

export interface ScoreParts {
  readonly client: ClickHouseClient;
  readonly log: Pick<CommitLog, 'append'>;
  readonly reads: ReadsInProgress;
  readonly limits: ReadLimits;
}

const SCORES_ALONE = { figures: false, traces: [] } as const;
/** Scores, and which spans and traces are in what. */
const SCORES_BELOW = { figures: false, traces: null } as const;
/** Scores that one write deletes. */
const REMOVED_AT_ONCE = 5_000;
/** What a page is selected and sorted by. */
export const COMPARED = ['number', 'text', 'source', 'author', 'received_ver'];

/** Scores in the table `scores`. */
export class ClickHouseScores implements Scores {
  readonly #parts: ScoreParts;
  readonly #rows: ReadRows;

  constructor(parts: ScoreParts) {
    this.#parts = parts;
    this.#rows = openReader(parts.client, parts.limits).rows;
  }

  page(projectId: string, query: ScoreQuery, signal?: AbortSignal) {
    const read = query.sessionId === null ? SCORES_ALONE : SCORES_BELOW;
    return this.#read(projectId, read, async (scope) => {
      const matches = latestScores(scope, COMPARED, keyConditions(scope, query), scoreConditions(query));
      const total = query.count ? await this.#count(matches, { signal }) : null;
      // Of all that match only what is compared is read, then the rest of the page.
      const page = sql`SELECT entity_type, name, entity_id, id, ver FROM (${matches})
ORDER BY ${order(query)} LIMIT ${value(query.limit, 'UInt64')} OFFSET ${value(query.offset, 'UInt64')}`;
      const rows = await this.#rows<ScoreRow>(
        sql`SELECT ${WHOLE_SCORE} FROM scores AS s
WHERE ${inProject(projectId)} AND (s.entity_type, s.name, s.entity_id, s.id, s.ver) IN (${page})
ORDER BY ${order(query, sql`s.`)} LIMIT 1 BY s.id`,
        { signal },
      );
      return { scores: rows.map(toScore), total };
    });
  }

  find(projectId: string, id: string, signal?: AbortSignal): Promise<StoredScore | null> {
    return this.#read(projectId, SCORES_ALONE, async (scope) => {
      const latest = latestScores(scope, SCORE_COLUMNS, [sql`id = ${value(id, 'UUID')}`]);
      const [row] = await this.#rows<ScoreRow>(sql`SELECT ${WHOLE_SCORE} FROM (${latest}) AS s`, { signal });
      return row === undefined ? null : toScore(row);
    });
  }

  countNamed(projectId: string, name: string): Promise<number> {
    return this.#read(projectId, SCORES_ALONE, (scope) =>
      this.#count(latestScores(scope, [], [sql`name = ${value(name, 'String')}`]), {}),
    );
  }

  async remove(projectId: string, id: string): Promise<boolean> {
    const score = await this.find(projectId, id);
    if (score === null) return false;
    const place: ScorePlace = score;
    await this.#parts.log.append({ projectId, deletedScores: [place] });
    return true;
  }

  async removeOf(projectId: string, spanIds: readonly string[], by: Pick<Score, 'source' | 'author'>): Promise<void> {
    if (spanIds.length === 0) return;
    const among = [sql`entity_type = 'span'`, sql`entity_id IN ${value(spanIds, 'Array(UUID)')}`];
    const given = [sql`source = ${value(by.source, 'String')}`, sql`author = ${value(by.author, 'String')}`];
    const some = (scope: ReadScope) =>
      this.#rows<ScorePlace>(
        sql`SELECT toString(id) AS id, entity_type, toString(entity_id) AS entity_id, name
FROM (${latestScores(scope, ['source', 'author'], among, given)}) LIMIT ${value(REMOVED_AT_ONCE, 'UInt64')}`,
      );
    for (let found = REMOVED_AT_ONCE; found === REMOVED_AT_ONCE;) {
      const deletedScores = await this.#read(projectId, SCORES_ALONE, some);
      if (deletedScores.length > 0) await this.#parts.log.append({ projectId, deletedScores });
      found = deletedScores.length;
    }
  }

  async #count(matches: Sql, options: ReadOptions): Promise<number> {
    const [row] = await this.#rows<{ readonly total: string }>(
      sql`SELECT toString(count()) AS total FROM (${matches})`,
      options,
    );
    return Number(row?.total ?? 0);
  }

  #read<T>(projectId: string, wanted: Wanted, read: (scope: ReadScope) => Promise<T>): Promise<T> {
    return this.#parts.reads.ofCommitted(projectId, wanted, ({ upTo, traces: unsettled }) =>
      read({ projectId, upTo, unsettled }),
    );
  }
}

/** Conditions on columns that tombstones have as well. */
export function keyConditions(
  scope: ReadScope,
  { entityType, entityIds, names, traceId, sessionId }: ScoreQuery,
): Sql[] {
  return [
    ...(entityType === null ? [] : [sql`entity_type = ${value(entityType, 'String')}`]),
    ...(entityIds === null ? [] : [sql`entity_id IN ${value(entityIds, 'Array(UUID)')}`]),
    ...(names === null ? [] : [sql`name IN ${value(names, 'Array(String)')}`]),
    ...(traceId === null ? [] : [sql`(${inTraces(scope, oneId(traceId))})`]),
    ...(sessionId === null ? [] : [sql`(${inSession(scope, oneId(sessionId))})`]),
  ];
}

const oneId = (id: string) => sql`(${value(id, 'UUID')})`;

function inSession(scope: ReadScope, session: Sql): Sql {
  return sql`entity_type = 'session' AND entity_id IN ${session} OR ${inTraces(scope, tracesIn(scope, session))}`;
}

/** Whether a score is of one of some traces, or of a span in them. */
function inTraces(scope: ReadScope, traces: Sql): Sql {
  const spans = standing(sql`id`, sql`${factsOf(scope, traces)} AND row_type != 1`);
  return sql`entity_type = 'trace' AND entity_id IN ${traces} OR entity_type = 'span' AND entity_id IN (SELECT id FROM (${spans}))`;
}

export function scoreConditions(query: ScoreQuery): Sql[] {
  const { sources, authors, texts, min, max, createdAfter, createdBefore, behind = null } = query;
  const version = (at: number) => value(versionOf(at), 'Int64');
  return [
    ...(sources === null ? [] : [sql`source IN ${value(sources, 'Array(String)')}`]),
    ...(authors === null ? [] : [sql`author IN ${value(authors, 'Array(String)')}`]),
    ...(texts === null ? [] : [sql`(isNull(number) AND text IN ${value(texts, 'Array(String)')})`]),
    ...(min === null ? [] : [sql`number >= ${value(min, 'Float64')}`]),
    ...(max === null ? [] : [sql`number <= ${value(max, 'Float64')}`]),
    ...(createdAfter === null ? [] : [sql`${scoredVersion} >= ${version(createdAfter)}`]),
    ...(createdBefore === null ? [] : [sql`${scoredVersion} <= ${version(createdBefore)}`]),
    ...(behind === null
      ? []
      : [sql`(${scoredVersion}, id) < (${version(behind.created_at)}, ${value(behind.id, 'UUID')})`]),
  ];
}

/** Numbers before texts, either way. */
function order({ sort, descending }: ScoreQuery, table: Sql = empty): Sql {
  const direction = descending ? sql`DESC` : sql`ASC`;
  const by = sort === 'created_at' ? [scoredVersion] : [sql`${table}number`, sql`${table}text`];
  return join([...by.map((column) => sql`${column} ${direction} NULLS LAST`), sql`${table}id ${direction}`], ', ');
}
