import type { EntitySpans, EntityType } from '../../domain/feedback/unified.js';
import type { ClickHouseClient, QueryOptions } from './client.js';
import type { ReadLimits, Settle } from './list/clickhouse-lists.js';
import { current, inProject, type ReadScope } from './list/compile.js';
import { empty, sql, value, type Sql } from './sql.js';

/** Ids read in one statement. */
const IDS_AT_ONCE = 100_000;

/** Which spans are below a trace or session, from the narrow tables behind the rollups. */
export class ClickHouseEntitySpans implements EntitySpans {
  readonly #client: ClickHouseClient;
  readonly #settle: Settle;
  readonly #settings: NonNullable<QueryOptions['settings']>;

  constructor(client: ClickHouseClient, settle: Settle, limits: ReadLimits) {
    this.#client = client;
    this.#settle = settle;
    this.#settings = {
      max_execution_time: limits.timeoutSeconds,
      max_result_bytes: String(limits.maxResultBytes),
    };
  }

  async *below(
    projectId: string,
    type: 'trace' | 'session',
    id: string,
    signal?: AbortSignal,
  ): AsyncGenerator<readonly string[]> {
    const read = { projectId, upTo: await this.#settle() };
    const traces = type === 'trace' ? sql`= ${value(id, 'UUID')}` : sql`IN (${tracesOf(read, id)})`;
    let last: string | undefined;
    do {
      const [page] = await this.#rows<{ ids: string[] }>(idsOf(read, traces, last), signal);
      const ids = page?.ids ?? [];
      yield ids;
      last = ids.length < IDS_AT_ONCE ? undefined : ids.at(-1);
    } while (last !== undefined);
  }

  async exists(projectId: string, type: EntityType, id: string, signal?: AbortSignal): Promise<boolean> {
    const read = { projectId, upTo: await this.#settle() };
    const wanted = value(id, 'UUID');
    const newest = (table: Sql) =>
      sql`SELECT 1 FROM (SELECT * FROM ${table} WHERE ${inProject(projectId)} AND id = ${wanted} ORDER BY ver DESC LIMIT 1) WHERE NOT gone`;
    const span = sql`SELECT 1 FROM spans WHERE ${inProject(projectId)} AND id = ${wanted} AND ${current(read)} LIMIT 1`;
    const statement = { span, trace: newest(sql`traces`), session: newest(sql`sessions`) }[type];
    return (await this.#rows(statement, signal)).length > 0;
  }

  #rows<T>(statement: Sql, signal?: AbortSignal): Promise<T[]> {
    const { text, params } = statement.render();
    return this.#client.query<T>(text, {
      params,
      settings: this.#settings,
      ...(signal === undefined ? {} : { signal }),
    });
  }
}

function tracesOf({ projectId }: ReadScope, session: string): Sql {
  return sql`SELECT trace_id FROM session_traces FINAL WHERE ${inProject(projectId)} AND session_id = ${value(session, 'UUID')} AND member`;
}

/** The newest fact of each span says whether it is deleted. A page of ids in their own order, after `last`. */
function idsOf({ projectId, upTo }: ReadScope, traces: Sql, last: string | undefined): Sql {
  const behind = last === undefined ? empty : sql` AND f.id > ${value(last, 'UUID')}`;
  return sql`SELECT groupArray(toString(span)) AS ids FROM (
  SELECT DISTINCT f.id AS span FROM facts AS f
  WHERE ${inProject(projectId)} AND f.trace_id ${traces} AND row_type = 0 AND ver <= ${value(upTo, 'UInt64')}${behind}
  GROUP BY f.trace_id, f.id HAVING NOT argMax(deleted, ver)
  ORDER BY span LIMIT ${value(IDS_AT_ONCE, 'UInt64')}
)`;
}
