import type { Database } from '../../../engine/metadata/database.js';
import { AT_ONCE, IS_EARLIER } from './records-about.js';

interface OfTrace {
  readonly deletion: number;
  readonly projectId: string;
  readonly trace: string;
}

const OF_TRACE = 't.project_id = @projectId AND t.trace_id = @trace';
/** What goes with a trace, and is about no span but by the way. */
const TABLES = ['comments', 'share_links'] as const;

function removal(db: Database, table: string, where: string) {
  return db.prepare<OfTrace & { readonly isBack?: 0 | 1; readonly spans?: string }>(
    `DELETE FROM ${table} WHERE id IN (SELECT t.id FROM ${table} AS t WHERE ${where} LIMIT ${AT_ONCE})`,
  );
}

/** What people keep beside traces: comments, and links that share them. */
export function traceRecords(db: Database) {
  const any = db
    .prepare<{ projectId: string }, number>(
      `SELECT ${TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table} WHERE project_id = @projectId)`).join(' OR ')}`,
    )
    .pluck();
  const among = db
    .prepare<{ projectId: string; traces: string }, string>(
      `SELECT s.value FROM json_each(@traces) AS s
       WHERE ${TABLES.map((table) => `EXISTS (SELECT 1 FROM ${table} AS t WHERE t.project_id = @projectId AND t.trace_id = s.value)`).join(' OR ')}`,
    )
    .pluck();
  const ofTrace = TABLES.map((table) => removal(db, table, `${OF_TRACE} AND (@isBack = 0 OR ${IS_EARLIER})`));
  const ofSpans = removal(
    db,
    'comments',
    `${OF_TRACE} AND t.span_id IN (SELECT value FROM json_each(@spans)) AND ${IS_EARLIER}`,
  );
  return {
    /** Whether a project has any: most have none. */
    any: (projectId: string) => any.get({ projectId }) === 1,
    /** Which of some traces have any. */
    among: (projectId: string, traceIds: readonly string[]) =>
      among.all({ projectId, traces: JSON.stringify(traceIds) }),
    /** @returns whether there may be more */
    removeOfTrace: (of: OfTrace, isBack: boolean) =>
      ofTrace.some((statement) => statement.run({ ...of, isBack: isBack ? 1 : 0 }).changes === AT_ONCE),
    /** @returns whether there may be more */
    removeOfSpans: (of: OfTrace, spanIds: readonly string[]) =>
      ofSpans.run({ ...of, spans: JSON.stringify(spanIds) }).changes === AT_ONCE,
  };
}
