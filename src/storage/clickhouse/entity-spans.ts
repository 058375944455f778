import type { EntitySpans, EntityType } from '../../domain/feedback/unified.js';
import type { ClickHouseClient } from './client/client.js';
import { inProject, type ReadScope } from './read/scope.js';
import { current, isDeleted, rolledUp, tracesOfSession } from './read/visibility.js';
import type { ReadsInProgress } from './read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from './read/row-reader.js';
import { empty, sql, value, type Sql } from './client/sql.js';

/** Ids read in one statement. */
const IDS_AT_ONCE = 250_000;

/** Which spans are below a trace or session, from the narrow tables behind the rollups. */
export class ClickHouseEntitySpans implements EntitySpans {
  readonly #rows: ReadRows;
  readonly #reads: ReadsInProgress;
  readonly #idsAtOnce: number;

  constructor(client: ClickHouseClient, reads: ReadsInProgress, limits: ReadLimits, idsAtOnce = IDS_AT_ONCE) {
    this.#rows = openReader(client, limits).rows;
    this.#reads = reads;
    this.#idsAtOnce = idsAtOnce;
  }

  async *below(
    projectId: string,
    type: 'trace' | 'session',
    id: string,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly string[]> {
    const state = await this.#reads.open(projectId);
    try {
      const read = { projectId, upTo: state.upTo };
      const traces = type === 'trace' ? sql`= ${value(id, 'UUID')}` : sql`IN (${tracesOfSession(projectId, id)})`;
      let last: string | undefined;
      do {
        const [page] = await this.#rows<{ ids: string[] }>(idsOf(read, traces, last, this.#idsAtOnce), { signal });
        const ids = page?.ids ?? [];
        yield ids;
        last = ids.length < this.#idsAtOnce ? undefined : ids.at(-1);
      } while (last !== undefined);
    } finally {
      state.release();
    }
  }

  async exists(projectId: string, type: EntityType, id: string, signal?: AbortSignal): Promise<boolean> {
    const wanted = value(id, 'UUID');
    return this.#reads.run(projectId, async (upTo) => {
      const span = sql`SELECT 1 FROM spans WHERE ${inProject(projectId)} AND id = ${wanted} AND ${current({ projectId, upTo })} LIMIT 1`;
      const statement = {
        span,
        trace: rolledUp(sql`traces`, projectId, id),
        session: rolledUp(sql`sessions`, projectId, id),
      }[type];
      return (await this.#rows(statement, { signal })).length > 0;
    });
  }
}

/**
 * A page of span ids after `last`, in the order of their text: who looks them up elsewhere then goes through an index from
 * one end to the other. The newest fact of each span says whether it is deleted.
 */
function idsOf({ projectId, upTo }: ReadScope, traces: Sql, last: string | undefined, limit: number): Sql {
  const behind = last === undefined ? empty : sql` AND toString(f.id) > ${value(last, 'String')}`;
  return sql`SELECT groupArray(span) AS ids FROM (
  SELECT DISTINCT toString(f.id) AS span FROM facts AS f
  WHERE ${inProject(projectId)} AND f.trace_id ${traces} AND row_type = 0 AND ver <= ${value(upTo, 'UInt64')}${behind}
  GROUP BY f.trace_id, f.id HAVING NOT ${isDeleted}
  ORDER BY span LIMIT ${value(limit, 'UInt64')}
)`;
}
