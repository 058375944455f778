import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteRows, MUTATIONS_END_WITHIN_MS } from '../clickhouse/client/mutations.js';
import { number, sql, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from './version-clock.js';

/*
 * The table `experiment_spans`: the marked rows of `spans` by experiment, which a view fills in the insert of each. It says where
 * they are; which of them count is known by their versions, as of spans. A row that is there twice changes nothing.
 */

/** The rows of `experiment_spans` that marked rows of `spans` make; the migration has the same text. */
export const MARKED_SPANS = sql`SELECT ver, project_id, assumeNotNull(s.experiment_id) AS experiment_id, experiment_row AS row_id, experiment_repetition AS repetition,
  id, trace_id, ifNull(experiment_trace, trace_id) AS made_in, if(origin_ver = 0, ver, origin_ver) AS written,
  if(received_ver = 0, ver, received_ver) AS received, started_at, duration_ms, cost, input_tokens, output_tokens, has_error
FROM spans AS s WHERE isNotNull(s.experiment_id)`;

const COLUMNS = sql`ver, project_id, experiment_id, row_id, repetition, id, trace_id, made_in, written, received, started_at, duration_ms, cost, input_tokens, output_tokens, has_error`;

/** Writes what an insert that was interrupted left out. @param versions a condition on `ver` */
export async function insertMarked(client: ClickHouseClient, versions: Sql): Promise<void> {
  await client.command(
    sql`INSERT INTO experiment_spans (${COLUMNS}) SELECT ${COLUMNS} FROM (${MARKED_SPANS} AND ${versions})
     WHERE ver NOT IN (SELECT ver FROM experiment_spans WHERE ${versions})`,
  );
}

/** Makes the table agree with the spans that were written after a version: a span's own row decides what was written. */
export async function reconcileMarked(client: ClickHouseClient, after: Version): Promise<void> {
  const versions = sql`ver > ${number(after)}`;
  await insertMarked(client, versions);
  const orphans = sql`${versions} AND ver NOT IN (SELECT ver FROM spans WHERE ${versions})`;
  const [any] = await client.query(sql`SELECT 1 FROM experiment_spans WHERE ${orphans} LIMIT 1`);
  if (any !== undefined)
    await deleteRows(client, 'experiment_spans', orphans, AbortSignal.timeout(MUTATIONS_END_WITHIN_MS));
}

/** The projects that have, or had, spans of experiments: all others are read as if there were none. */
export class MarkedProjects {
  readonly #projects = new Set<string>();

  async load(client: ClickHouseClient): Promise<void> {
    const rows = await client.query<{ project: string }>(
      sql`SELECT DISTINCT toString(project_id) AS project FROM experiment_spans`,
    );
    for (const { project } of rows) this.#projects.add(project);
  }

  /** Call before such a span can be read. */
  add(projectId: string): void {
    this.#projects.add(projectId);
  }

  has(projectId: string): boolean {
    return this.#projects.has(projectId);
  }
}
