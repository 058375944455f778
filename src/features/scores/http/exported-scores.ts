import type { StoredScore } from '../../../engine/traces/model/score/scores.js';
import { columnsOf, fittingRows, type ExportedRows } from '../../exports/exported-rows.js';
import type { ExportedList } from '../../exports/http/export-route.js';
import { ScoreRead } from '../schema.js';
import type { ScoreService } from '../score-service.js';
import { exportQuery, type ScoreSelection } from './list-query.js';
import { TAG, toScoreRead } from './presenters.js';

/** Each page looks at all scores that match. */
const MAX_ROWS = 10_000;
const FIRST_ROWS = 500;

/** The export of scores. */
export function exportedScores(scores: Pick<ScoreService, 'list'>): ExportedList<'scores', ScoreSelection> {
  return {
    name: 'scores',
    tag: TAG,
    described: 'Filters are those of `GET /scores`.',
    query: exportQuery,
    rows: (projectId, query) => scoreRows(scores, projectId, query),
  };
}

/** Scores that match, the newest first. */
function scoreRows(scores: Pick<ScoreService, 'list'>, projectId: string, query: ScoreSelection): ExportedRows {
  return {
    columns: columnsOf(ScoreRead),
    async *pages(signal) {
      const order = { sort: 'created_at', descending: true, offset: 0, count: false } as const;
      let behind: StoredScore | null = null;
      for (let limit = FIRST_ROWS; ;) {
        const { scores: found } = await scores.list(projectId, { ...query, ...order, limit, behind }, signal);
        const rows = found.map((score) => JSON.stringify(toScoreRead(score)));
        if (rows.length > 0) yield rows;
        if (rows.length < limit) return;
        behind = found.at(-1) ?? null;
        const bytes = rows.reduce((sum, { length }) => sum + length, 0);
        limit = fittingRows(rows.length, bytes, MAX_ROWS);
      }
    },
  };
}
