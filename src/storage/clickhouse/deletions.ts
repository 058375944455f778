import type { Deletions } from '../../domain/list/lists.js';
import type { ClickHouseClient } from './client.js';
import type { CommitLog } from './commit/commit-log.js';
import type { AppendedWrites, Tombstone } from './commit/rows.js';
import { current, inProject } from './list/compile.js';
import type { Settle } from './list/clickhouse-lists.js';
import { rowReader, type ReadRows } from './row-reader.js';
import { empty, sql, value, type Sql } from './sql.js';

/**
 * Deletes by tombstones in the same log that writes go through: a later write of the same span brings it back, and
 * what is gone is gone from every rollup by the same recomputation as any other change.
 */
export class ClickHouseDeletions implements Deletions {
  readonly #rows: ReadRows;
  readonly #log: CommitLog;
  readonly #settle: Settle;
  readonly #deleted: () => void;

  /** @param deleted called after a deletion. */
  constructor(client: ClickHouseClient, log: CommitLog, settle: Settle, deleted: () => void) {
    this.#rows = rowReader(client);
    this.#log = log;
    this.#settle = settle;
    this.#deleted = deleted;
  }

  async span(projectId: string, id: string): Promise<boolean> {
    const upTo = await this.#settle();
    const found = await this.#rows<{ trace_id: string }>(
      sql`SELECT DISTINCT toString(trace_id) AS trace_id FROM spans
WHERE ${inProject(projectId)} AND id = ${value(id, 'UUID')} AND ${current({ projectId, upTo })}`,
    );
    return this.#bury(
      projectId,
      found.map(({ trace_id }) => ({ trace_id, rowType: 0, id })),
    );
  }

  async trace(projectId: string, id: string): Promise<boolean> {
    await this.#settle();
    return this.#bury(projectId, await this.#contents(projectId, sql`f.trace_id = ${value(id, 'UUID')}`));
  }

  async session(projectId: string, id: string): Promise<boolean> {
    await this.#settle();
    const session = value(id, 'UUID');
    const [known] = await this.#rows(
      sql`SELECT 1 FROM (SELECT * FROM sessions WHERE ${inProject(projectId)} AND id = ${session} ORDER BY ver DESC LIMIT 1) WHERE NOT gone`,
    );
    if (!known) return false;
    const traces = (condition: Sql) =>
      sql`f.trace_id IN (SELECT trace_id FROM session_traces FINAL WHERE ${inProject(projectId)} AND session_id = ${session} AND ${condition})`;
    const below = await this.#contents(projectId, traces(sql`member`));
    // Spans that name the session although their trace has moved to another one.
    const strays = await this.#contents(
      projectId,
      traces(sql`named AND NOT member`),
      sql` AND argMax(tuple(session_id), ver).1 = ${session}`,
    );
    await this.#append({ projectId, tombstones: [...below, ...strays], deletedSessions: [id] });
    return true;
  }

  /** What a trace holds now: spans and the statement about it. Columns are qualified: `toString` hides the bare names. */
  #contents(projectId: string, condition: Sql, having: Sql = empty): Promise<Tombstone[]> {
    return this.#rows<Tombstone>(
      sql`SELECT toString(f.trace_id) AS trace_id, row_type AS rowType, toString(f.id) AS id FROM facts AS f
WHERE ${inProject(projectId)} AND ${condition}
GROUP BY f.trace_id, row_type, f.id HAVING NOT argMax(deleted, ver)${having}`,
    );
  }

  async #bury(projectId: string, tombstones: readonly Tombstone[]): Promise<boolean> {
    if (tombstones.length === 0) return false;
    await this.#append({ projectId, tombstones });
    return true;
  }

  async #append(writes: AppendedWrites): Promise<void> {
    await this.#log.append(writes);
    await this.#settle();
    this.#deleted();
  }
}
