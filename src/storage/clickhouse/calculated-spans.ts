import { spanFields, type SpanRead } from '../../domain/list/fields.js';
import type {
  CalculatedSpan,
  CalculatedSpans,
  SpanPlace,
  RepricingSnapshot,
  StoredSpan,
} from '../../domain/price/calculated-spans.js';
import type { RepriceScope } from '../../domain/price/reprice-job.js';
import { USAGE_ATTRIBUTES } from '../../domain/span/pricing.js';
import type { Micros } from '../../domain/time/timestamp.js';
import { calculated, toCalculatedSpan, toSpan, type PageRow } from './calculated-span-rows.js';
import type { ClickHouseClient } from './client/client.js';
import type { CommitLog } from './commit/commit-log.js';
import type { Version } from './commit/version-clock.js';
import type { WriteWatch } from './commit/write-watch.js';
import { spanColumns } from './list/columns.js';
import { inProject, type ReadScope } from './read/scope.js';
import { beyond, moment } from './read/times.js';
import { written } from './read/visibility.js';
import { jsonLines } from './read/json-rows.js';
import type { HeldState, ReadsInProgress } from './read/reads-in-progress.js';
import { openReader, type Reader, type ReadLimits } from './read/row-reader.js';
import { join, sql, value } from './client/sql.js';

/** Stored spans with calculated costs, to be calculated anew. */
export class ClickHouseCalculatedSpans implements CalculatedSpans {
  readonly #log: CommitLog;
  readonly #reads: ReadsInProgress;
  readonly #reader: Reader;

  constructor(client: ClickHouseClient, log: CommitLog, reads: ReadsInProgress, limits: ReadLimits) {
    this.#log = log;
    this.#reads = reads;
    this.#reader = openReader(client, limits);
  }

  async count(projectId: string, scope: RepriceScope): Promise<number> {
    const [row] = await this.#reads.run(projectId, (upTo) =>
      this.#reader.rows<{ total: string | number }>(
        sql`SELECT count() AS total FROM spans WHERE ${calculated({ projectId, upTo }, scope)}`,
      ),
    );
    return Number(row?.total ?? 0);
  }

  async open(projectId: string): Promise<RepricingSnapshot> {
    const watch = await this.#log.watch(projectId);
    try {
      const state = await this.#reads.open(projectId);
      return new StoredSnapshot(projectId, state, this.#reader, this.#log, watch);
    } catch (error) {
      watch.end();
      throw error;
    }
  }
}

class StoredSnapshot implements RepricingSnapshot {
  readonly #read: ReadScope;
  readonly #state: HeldState;
  readonly #reader: Reader;
  readonly #log: CommitLog;
  readonly #watch: WriteWatch;
  /** The version that a client wrote, by the version of each span that was read. */
  readonly #origins = new Map<Version, Version>();

  constructor(projectId: string, state: HeldState, reader: Reader, log: CommitLog, watch: WriteWatch) {
    this.#read = { projectId, upTo: state.upTo };
    this.#state = state;
    this.#reader = reader;
    this.#log = log;
    this.#watch = watch;
  }

  async page(scope: RepriceScope, after: SpanPlace | null, limit: number): Promise<CalculatedSpan[]> {
    const usage = USAGE_ATTRIBUTES.map((name) => sql`JSONExtractRaw(attributes, ${value(name, 'String')})`);
    const behind = after === null ? sql`1` : beyond(after);
    const rows = await this.#reader.rows<PageRow>(
      sql`SELECT toString(ver) AS version, toString(trace_id) AS trace, toString(id) AS span, kind,
  toString(toUnixTimestamp64Micro(started_at)) AS started, toString(cost) AS amount, [${join(usage, ', ')}] AS usage,
  toString(length(attributes) + length(ifNull(input_data, '')) + length(ifNull(output_data, '')) + length(ifNull(error_stack, '')) + 1000) AS bytes
FROM spans
WHERE ${calculated(this.#read, scope)} AND ${behind}
ORDER BY project_id, started_at, trace_id, id LIMIT ${value(limit, 'UInt64')}`,
    );
    return rows.map(toCalculatedSpan);
  }

  async read(spans: readonly CalculatedSpan[]): Promise<StoredSpan[]> {
    const times = spans.map(({ started_at }) => started_at);
    const versions = spans.map(({ version }) => version);
    const { selected, format } = jsonLines(spanFields, Object.keys(spanFields), spanColumns, [sql`ver`, written]);
    const lines = await this.#reader.lines(
      sql`SELECT ${selected}
FROM spans
WHERE ${inProject(this.#read.projectId)} AND ver IN ${value(versions, 'Array(UInt64)')}
  AND started_at >= ${moment(Math.min(...times))} AND started_at <= ${moment(Math.max(...times))}
${format}`,
    );
    return lines.map(({ row, extra: [version, origin] }) => {
      this.#origins.set(Number(version), Number(origin));
      return { version: Number(version), span: toSpan(JSON.parse(row) as SpanRead) };
    });
  }

  async replace(spans: readonly StoredSpan[]): Promise<(Micros | null)[]> {
    // Nothing may come between this look at the watch and the append: both are in one turn of the event loop.
    const still = spans.map(({ span }) => !this.#watch.sawChanged(span));
    const revised = spans
      .filter((_span, index) => still[index])
      .map(({ version, span }) => ({ ...span, originVersion: this.#origins.get(version) ?? version }));
    const { createdAt } = await this.#log.append({ projectId: this.#read.projectId, spans: revised });
    const times = createdAt.values();
    return still.map((stays) => (stays ? (times.next().value ?? null) : null));
  }

  close(): void {
    this.#watch.end();
    this.#state.release();
  }
}
