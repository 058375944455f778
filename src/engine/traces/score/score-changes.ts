import type { ChangesFrom } from '../model/list/changes.js';
import type { State } from '../model/list/tail.js';
import type { ScoreChangePage, ScoreChanges, ScoreQuery } from '../model/score/scores.js';
import { sql, value } from '../clickhouse/client/sql.js';
import { behind, wider, type ChangeParts } from '../list/changes.js';
import { openReader, type ReadRows } from '../read/row-reader.js';
import { inProject } from '../read/scope.js';
import { COMPARED, keyConditions, scoreConditions } from './clickhouse-scores.js';
import { latestScores } from './latest.js';
import { toScore, WHOLE_SCORE, type ScoreRow } from './score-rows.js';

/** Scores of a page: some of them have long texts. */
const MAX_ROWS = 500;

/** Scores by their versions. */
export class ClickHouseScoreChanges implements ScoreChanges {
  readonly #parts: ChangeParts;
  readonly #rows: ReadRows;

  constructor(parts: ChangeParts) {
    this.#parts = parts;
    this.#rows = openReader(parts.client, parts.limits, { max_threads: 1 }).rows;
  }

  now(): State {
    return this.#parts.acknowledged();
  }

  page(
    projectId: string,
    query: ScoreQuery,
    { after, width }: ChangesFrom,
    upTo: State,
    signal?: AbortSignal,
  ): Promise<ScoreChangePage> {
    const wanted = { figures: false, traces: query.sessionId === null ? [] : null };
    return this.#parts.reads.ofCommitted(projectId, wanted, async ({ upTo: read, traces: unsettled }) => {
      const scope = { projectId, upTo: read, unsettled };
      const end = Math.min(upTo, after + width);
      // The newest row behind the version is the newest of all.
      const among = [...keyConditions(scope, query), sql`ver > ${value(after, 'UInt64')}`];
      const having = [...scoreConditions(query), sql`ver <= ${value(end, 'UInt64')}`];
      const page = sql`SELECT entity_type, name, entity_id, id, ver FROM (${latestScores(scope, COMPARED, among, having)})
ORDER BY ver LIMIT ${value(MAX_ROWS + 1, 'UInt64')}`;
      const rows = await this.#rows<ScoreRow & { readonly ver: string }>(
        sql`SELECT ${WHOLE_SCORE}, toString(s.ver) AS ver FROM scores AS s
WHERE ${inProject(projectId)} AND (s.entity_type, s.name, s.entity_id, s.id, s.ver) IN (${page})
ORDER BY s.ver LIMIT 1 BY s.id`,
        { signal },
      );
      const some = rows.slice(0, MAX_ROWS);
      const last = Number(some.at(-1)?.ver ?? 0);
      const next = rows.length > some.length ? behind(after, last) : wider(end, width);
      return { scores: some.map(({ ver: _version, ...row }) => toScore(row)), next };
    });
  }
}
