import { guarded, transact, WatchedStore, type Database } from '../../../engine/metadata/database.js';
import type { Window } from '../../../engine/schema/page.js';
import {
  MAX_COMPARISONS,
  type Comparison,
  type ComparisonFilter,
  type ComparisonStore,
  type ListedComparison,
  type Request,
} from '../comparison-store.js';
import type { Compared } from '../outcome.js';

interface ListedRow extends Pick<ListedComparison, 'id' | 'verdict' | 'created_at' | 'created_by'> {
  readonly dataset_id: string;
  readonly dataset_name: string;
  readonly candidate_id: string;
  readonly candidate_name: string;
  readonly candidate_version: number;
  readonly baseline_id: string;
  readonly baseline_name: string;
  readonly baseline_version: number;
}

interface FoundRow extends ListedRow {
  readonly candidate_tag: string | null;
  readonly baseline_tag: string | null;
}

interface Row extends ListedRow {
  readonly is_repeat: number;
  readonly request: string;
  readonly found: string;
}

interface OfProject extends ComparisonFilter {
  readonly projectId: string;
}

const LISTED = `id, dataset_id, dataset_name, candidate_id, candidate_name, candidate_version, baseline_id, baseline_name,
  baseline_version, verdict, created_at, created_by`;
const TAGS = `request ->> '$.tags.candidate' AS candidate_tag, request ->> '$.tags.baseline' AS baseline_tag`;
/** Whether a comparison is still there: those of deleted experiments and of erased rows go by and by. */
export const liveComparison = (alias: string) => `NOT EXISTS (
    SELECT 1 FROM experiments AS e WHERE e.id IN (${alias}.candidate_id, ${alias}.baseline_id) AND e.deleted_at IS NOT NULL)
  AND NOT EXISTS (SELECT 1 FROM datasets AS d WHERE d.id = ${alias}.dataset_id AND d.rows_erased_at >= ${alias}.created_at)`;

const FOUND = `FROM comparisons WHERE project_id = @projectId AND (@verdict IS NULL OR verdict = @verdict)
  AND (@experimentId IS NULL OR candidate_id = @experimentId OR baseline_id = @experimentId)
  AND ${liveComparison('comparisons')}`;

function prepare(db: Database) {
  return {
    add: db.prepare<Row & { project_id: string }>(
      `INSERT INTO comparisons (project_id, ${LISTED}, is_repeat, request, found)
       VALUES (@project_id, @id, @dataset_id, @dataset_name, @candidate_id, @candidate_name, @candidate_version,
         @baseline_id, @baseline_name, @baseline_version, @verdict, @created_at, @created_by, @is_repeat, @request, @found)`,
    ),
    isCurrent: db
      .prepare<Row & { project_id: string }, number>(
        `SELECT (SELECT count(*) FROM experiments
           WHERE project_id = @project_id AND id IN (@candidate_id, @baseline_id) AND deleted_at IS NULL) = 2
         AND (@verdict = 'incomparable' OR EXISTS (
           SELECT 1 FROM datasets WHERE id = @dataset_id AND deleted_at IS NULL AND coalesce(rows_erased_at, 0) < @created_at))`,
      )
      .pluck(),
    removeOf: db.prepare<{ id: string; atOnce: number }>(
      `DELETE FROM comparisons WHERE seq IN (
         SELECT seq FROM comparisons WHERE candidate_id = @id OR baseline_id = @id LIMIT @atOnce)`,
    ),
    removeErased: db.prepare<{ atOnce: number }>(
      `DELETE FROM comparisons WHERE seq IN (
         SELECT c.seq FROM datasets AS d INDEXED BY datasets_with_erased_rows
         CROSS JOIN comparisons AS c INDEXED BY comparisons_by_dataset ON c.dataset_id = d.id AND c.created_at <= d.rows_erased_at
         WHERE d.rows_erased_at IS NOT NULL LIMIT @atOnce)`,
    ),
    // Of a project in which there are no more than were once allowed, one at a time.
    makeRoom: db.prepare<{ projectId: string; most: number }>(
      `DELETE FROM comparisons WHERE seq IN (
         SELECT seq FROM comparisons WHERE project_id = @projectId ORDER BY created_at DESC, seq DESC LIMIT 10 OFFSET @most)`,
    ),
    find: db.prepare<[string, string], FoundRow & Row>(
      `SELECT ${LISTED}, ${TAGS}, is_repeat, request, found FROM comparisons WHERE project_id = ? AND id = ?
         AND ${liveComparison('comparisons')}`,
    ),
    lastRepeat: db.prepare<[string, string], FoundRow & Row>(
      `SELECT ${LISTED}, ${TAGS}, is_repeat, request, found FROM comparisons INDEXED BY comparisons_of_repeats
       WHERE is_repeat = 1 AND project_id = ? AND dataset_id = ? AND ${liveComparison('comparisons')}
       ORDER BY created_at DESC LIMIT 1`,
    ),
    list: db.prepare<OfProject & Window, FoundRow>(
      `SELECT ${LISTED}, ${TAGS} ${FOUND} ORDER BY created_at DESC, seq DESC LIMIT @limit OFFSET @offset`,
    ),
    count: db.prepare<OfProject, number>(`SELECT count(*) ${FOUND}`).pluck(),
    remove: db.prepare<[string, string]>('DELETE FROM comparisons WHERE project_id = ? AND id = ?'),
  };
}

/** Comparisons in the SQLite file. */
export class SqliteComparisonStore extends WatchedStore<ReturnType<typeof prepare>> implements ComparisonStore {
  constructor(db: Database) {
    super(db, prepare);
  }

  add(projectId: string, { request, found, is_repeat, ...listed }: Comparison): boolean {
    const texts = { request: JSON.stringify(request), found: JSON.stringify(found) };
    const row = { ...toRow(listed), ...texts, is_repeat: is_repeat ? 1 : 0 };
    return transact(this.db, () => {
      if (this.statements.isCurrent.get({ project_id: projectId, ...row }) !== 1) return false;
      this.statements.add.run({ project_id: projectId, ...row });
      this.statements.makeRoom.run({ projectId, most: MAX_COMPARISONS });
      return true;
    });
  }

  find(projectId: string, id: string): Comparison | undefined {
    const row = guarded(() => this.statements.find.get(projectId, id));
    return row && wholeFromRow(row);
  }

  lastRepeat(projectId: string, datasetId: string): Comparison | undefined {
    const row = guarded(() => this.statements.lastRepeat.get(projectId, datasetId));
    return row && wholeFromRow(row);
  }

  list(projectId: string, filter: ComparisonFilter, window: Window): ListedComparison[] {
    return guarded(() => this.statements.list.all({ projectId, ...filter, ...window }).map(fromRow));
  }

  count(projectId: string, filter: ComparisonFilter): number {
    return guarded(() => this.statements.count.get({ projectId, ...filter }) ?? 0);
  }

  removeOf(experimentId: string, atOnce: number): number {
    return guarded(() => this.statements.removeOf.run({ id: experimentId, atOnce }).changes);
  }

  removeErased(atOnce: number): number {
    return guarded(() => this.statements.removeErased.run({ atOnce }).changes);
  }

  remove(projectId: string, id: string): boolean {
    return guarded(() => this.statements.remove.run(projectId, id).changes > 0);
  }
}

function wholeFromRow(row: FoundRow & Row): Comparison {
  const [request, found] = [JSON.parse(row.request) as Request, JSON.parse(row.found) as Compared];
  return { ...fromRow(row), is_repeat: row.is_repeat === 1, request, found };
}

function toRow({ dataset, candidate, baseline, ...row }: ListedComparison): ListedRow {
  return {
    ...row,
    dataset_id: dataset.id,
    dataset_name: dataset.name,
    candidate_id: candidate.id,
    candidate_name: candidate.name,
    candidate_version: candidate.dataset_version,
    baseline_id: baseline.id,
    baseline_name: baseline.name,
    baseline_version: baseline.dataset_version,
  };
}

function fromRow({ id, verdict, created_at, created_by, ...row }: FoundRow): ListedComparison {
  const arm = (side: 'candidate' | 'baseline') => ({
    ...{ id: row[`${side}_id`], name: row[`${side}_name`] },
    ...{ dataset_version: row[`${side}_version`], tag: row[`${side}_tag`] },
  });
  return {
    id,
    dataset: { id: row.dataset_id, name: row.dataset_name },
    candidate: arm('candidate'),
    baseline: arm('baseline'),
    verdict,
    created_at,
    created_by,
  };
}
