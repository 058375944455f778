import type { EntitySpans, EntityType } from './model/entity-spans.js';
import type { StoredIds } from './model/trace/mistaken-ids.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { inProject, type ReadScope } from './read/scope.js';
import { current, factsOf, isDeleted, rolledUp, standing, tracesOfSessions } from './read/visibility.js';
import type { CommittedState, ReadsInProgress } from './read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from './read/row-reader.js';
import { empty, join, sql, value, type Sql } from './clickhouse/client/sql.js';

/** Ids read in one statement. */
const IDS_AT_ONCE = 250_000;

/** Which spans are below a trace or session, from the narrow tables behind the rollups. */
export class ClickHouseEntitySpans implements EntitySpans, StoredIds {
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
      const traces =
        type === 'trace'
          ? sql`= ${value(id, 'UUID')}`
          : sql`IN (${tracesOfSessions(projectId, sql`= ${value(id, 'UUID')}`)})`;
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

  async hasSpans(projectId: string, traceId: string): Promise<boolean> {
    return this.#reads.run(projectId, async (upTo) => {
      const spans = factsOfSpans({ projectId, upTo }, sql`= ${value(traceId, 'UUID')}`);
      return (await this.#rows(sql`SELECT 1 FROM (${spans}) LIMIT 1`)).length > 0;
    });
  }

  async isParent(projectId: string, id: string): Promise<boolean> {
    return this.#reads.run(projectId, async (upTo) => {
      const child = sql`SELECT 1 FROM spans WHERE ${inProject(projectId)} AND parent_span_id = ${value(id, 'UUID')} AND ${current({ projectId, upTo })} LIMIT 1`;
      return (await this.#rows(child)).length > 0;
    });
  }

  /** Waits for no round. A session whose last trace was deleted a moment ago may still count. */
  groupWith(projectId: string, id: string): Promise<'trace' | 'session' | null> {
    return this.#reads.ofCommitted(projectId, { figures: false, traces: [id] }, async (state) => {
      const rows = await this.#rows<{ type: 'trace' | 'session' }>(groupsWith(projectId, state, id));
      return rows.find(({ type }) => type === 'trace')?.type ?? rows[0]?.type ?? null;
    });
  }
}

/** `trace`, `session` or both, as the key of each table finds them; what is not rolled up yet is found by its facts. */
function groupsWith(projectId: string, { upTo, traces, sessions }: CommittedState, id: string): Sql {
  const wanted = value(id, 'UUID');
  const facts = (of: readonly string[]) => factsOf({ projectId, upTo }, sql`${value(of, 'Array(UUID)')}`);
  const trace = traces.includes(id)
    ? sql`SELECT 1 FROM (${standing(sql`id`, facts([id]))}) LIMIT 1`
    : rolledUp(sql`traces`, projectId, id);
  const session = sessions.includes(id)
    ? sql`SELECT 1 FROM session_statements WHERE ${inProject(projectId)} AND session_id = ${wanted} GROUP BY session_id HAVING NOT ${isDeleted}`
    : rolledUp(sql`sessions`, projectId, id);
  const named = sql`SELECT 1 FROM (${standing(sql`session_id`, facts(traces))}) WHERE session_id = ${wanted} LIMIT 1`;
  return join(
    [
      sql`SELECT 'trace' AS type FROM (${trace})`,
      sql`SELECT 'session' AS type FROM (${session})`,
      ...(traces.length === 0 ? [] : [sql`SELECT 'session' AS type FROM (${named})`]),
    ],
    '\nUNION ALL ',
  );
}

/**
 * A page of span ids after `last`, in the order of their text: who looks them up elsewhere then goes through an index from
 * one end to the other. The newest fact of each span says whether it is deleted.
 */
function idsOf(read: ReadScope, traces: Sql, last: string | undefined, limit: number): Sql {
  const behind = last === undefined ? empty : sql` WHERE span > ${value(last, 'String')}`;
  return sql`SELECT groupArray(span) AS ids FROM (
  SELECT DISTINCT toString(f.id) AS span
  FROM (${factsOfSpans(read, traces)}) AS f${behind}
  ORDER BY span LIMIT ${value(limit, 'UInt64')}
)`;
}

/** The facts of spans of some traces that count. */
function factsOfSpans({ projectId, upTo }: ReadScope, traces: Sql): Sql {
  return standing(
    sql`id`,
    sql`${inProject(projectId)} AND trace_id ${traces} AND row_type != 1 AND ver <= ${value(upTo, 'UInt64')}`,
  );
}
