import { deleteRows } from '../clickhouse/client/mutations.js';
import { literal, sql } from '../clickhouse/client/sql.js';
import type { DeletionSource } from './deletion-source.js';
import { requireUuid } from './things.js';

/** Everything that is kept by project, except for what has its place in `removeProject`. */
const TABLES = [
  'spans',
  'experiment_spans',
  'facts',
  'traces',
  'trace_starts',
  'session_traces',
  'session_statements',
  'sessions',
  'session_starts',
  'scores',
  'newest_scores',
  'set_aside',
  'span_backfills',
];

/** As {@link StoredSpans.removeProject}. */
export async function removeProject(
  { client, log, settle, indexer, forgetAside, forgetNewestScores, forgetPartial, purgeWritten }: DeletionSource,
  projectId: string,
  signal: AbortSignal,
): Promise<void> {
  log.gate.requireOpen();
  await log.idle();
  await settle(projectId);
  // What a restart would bring back from the log is removed with the rest.
  await log.forgotten();
  await forgetAside(projectId);
  await forgetNewestScores(projectId);
  forgetPartial(projectId);
  const condition = sql`project_id = ${literal(requireUuid(projectId))}`;
  // First, so that from then on the purge writes nothing of the project.
  await deleteRows(client, 'superseded', condition, signal);
  await purgeWritten();
  for (const table of TABLES) await deleteRows(client, table, condition, signal);
  await indexer.forgetProject(projectId, signal);
}
