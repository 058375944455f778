import type {
  CalculatedSpan,
  CalculatedSpans,
  SpanPlace,
  RepricingSnapshot,
  RepriceScope,
} from './model/prices/calculated-spans.js';
import type { SpanId } from './model/list/one.js';
import type { PricedSpan, PricedSpans } from './model/prices/priced-spans.js';
import { calculated, pageColumns, toCalculatedSpan, type PageRow } from './calculated-span-rows.js';
import { empty, sql, value } from './clickhouse/client/sql.js';
import { inProject } from './read/scope.js';
import { beyond } from './read/times.js';
import { current } from './read/visibility.js';
import { openState, StoredRevision, type RevisedStore } from './span-revision.js';

/** Stored spans with calculated costs, to be recalculated. */
export class ClickHouseCalculatedSpans implements CalculatedSpans, PricedSpans {
  readonly #store: RevisedStore;

  constructor(store: RevisedStore) {
    this.#store = store;
  }

  async count(projectId: string, scope: RepriceScope): Promise<number> {
    const { reads, reader } = this.#store;
    const [row] = await reads.run(projectId, (upTo) =>
      reader.rows<{ total: string | number }>(
        sql`SELECT count() AS total FROM spans WHERE ${calculated({ projectId, upTo }, scope)}`,
      ),
    );
    return Number(row?.total ?? 0);
  }

  find(projectId: string, { id, traceId }: SpanId, limit: number, signal?: AbortSignal): Promise<PricedSpan[]> {
    const wanted = { figures: false, traces: traceId === null ? null : [traceId] };
    return this.#store.reads.ofCommitted(projectId, wanted, async ({ upTo, traces: unsettled }) => {
      const ofTrace = traceId === null ? empty : sql` AND trace_id = ${value(traceId, 'UUID')}`;
      const rows = await this.#store.reader.rows<PageRow & { calculated: number }>(
        sql`SELECT ${pageColumns}, cost_calculated AS calculated FROM spans AS s
WHERE ${inProject(projectId)} AND s.id = ${value(id, 'UUID')}${ofTrace} AND ${current({ projectId, upTo, unsettled })}
ORDER BY trace_id LIMIT ${value(limit, 'UInt64')}`,
        { signal },
      );
      return rows.map((row) => ({ ...toCalculatedSpan(row), isCalculated: row.calculated === 1 }));
    });
  }

  async open(projectId: string): Promise<RepricingSnapshot> {
    return new CalculatedSnapshot(this.#store, await openState(this.#store, projectId), false);
  }
}

class CalculatedSnapshot extends StoredRevision implements RepricingSnapshot {
  async page(scope: RepriceScope, after: SpanPlace | null, limit: number): Promise<CalculatedSpan[]> {
    const behind = after === null ? sql`1` : beyond(after);
    const rows = await this.store.reader.rows<PageRow>(
      sql`SELECT ${pageColumns} FROM spans
WHERE ${calculated(this.scope, scope)} AND ${behind}
ORDER BY project_id, started_at, trace_id, id LIMIT ${value(limit, 'UInt64')}`,
    );
    return rows.map(toCalculatedSpan);
  }
}
