import { isBounded, type JudgeFilters } from '../model/judged/filters.js';
import type { SpanPlace, JudgedSpan, SpanReader, SpanTraits } from '../model/judged/span-reader.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import type { Version } from '../write/version-clock.js';
import { inProject, type ReadScope } from '../read/scope.js';
import { beyond, moment } from '../read/times.js';
import { current } from '../read/visibility.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import { join, listOf, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { rootsOf, withOutput, type RootRow } from '../experiment/result-statements.js';
import {
  judgedColumns,
  onlyNamesTrace,
  shownOutput,
  toJudged,
  type JudgedSpanRow,
  type ShownOutputRow,
} from './judged-rows.js';
import { filterConditions, JUDGEABLE, namedTrace, toTraits, traitColumns, type TraitRow } from './span-rows.js';

export interface SpanReaderSource {
  readonly client: ClickHouseClient;
  readonly reads: ReadsInProgress;
  /** The version up to which everything is stored and rolled up right now; null while that is not known. */
  readonly settled: () => Version;
  readonly limits: ReadLimits;
  /** Longer inputs and outputs have their middle left out. */
  readonly maxCharacters: number;
}

const IDS_AT_ONCE = 500;

/** Spans for judges, with the middle of long texts left out already in the store. */
export class ClickHouseSpanReader implements SpanReader {
  readonly #source: SpanReaderSource;
  readonly #rows: ReadRows;

  constructor(source: SpanReaderSource) {
    this.#source = source;
    // Reads for judges are not in a hurry.
    this.#rows = openReader(source.client, source.limits, { max_threads: 1 }).rows;
  }

  async read(projectId: string, places: readonly SpanPlace[]): Promise<Map<string, JudgedSpan>> {
    const upTo = this.#source.settled();
    const times = join(
      places.map(({ span_started_at }) => moment(span_started_at)),
      ', ',
    );
    const found = await this.#source.reads.at(upTo, () =>
      this.#spans({ projectId, upTo }, ids(places), sql`started_at IN (${times})`),
    );
    const traces = new Map(places.map(({ span_id, trace_id }) => [span_id, trace_id]));
    const here = found.filter(({ span, trace }) => traces.get(span) === trace);
    const spans = new Map(here.map((row) => [row.span, row]));
    // Spans that were sent again with another start are looked for by id.
    const moved = ids(places).filter((id) => !spans.has(id));
    if (moved.length > 0) for (const [id, row] of await this.#found(projectId, moved)) spans.set(id, row);
    return this.#withOutputs(projectId, spans);
  }

  async answers(): Promise<void> {
    await this.#rows(sql`SELECT 1`);
  }

  async find(projectId: string, wanted: readonly string[]): Promise<Map<string, JudgedSpan>> {
    const rows = await this.#found(projectId, wanted);
    return new Map([...rows].map(([id, row]) => [id, toJudged(row)]));
  }

  async shown(projectId: string, wanted: readonly string[]): Promise<Map<string, JudgedSpan>> {
    return this.#withOutputs(projectId, await this.#found(projectId, wanted));
  }

  #found(projectId: string, wanted: readonly string[]): Promise<Map<string, JudgedSpanRow>> {
    return this.#source.reads.run(projectId, async (upTo) => {
      const spans = new Map<string, JudgedSpanRow>();
      for (let from = 0; from < wanted.length; from += IDS_AT_ONCE)
        for (const row of await this.#spans({ projectId, upTo }, wanted.slice(from, from + IDS_AT_ONCE), sql`1`))
          if (!spans.has(row.span)) spans.set(row.span, row);
      return spans;
    });
  }

  async traits(
    projectId: string,
    wanted: readonly string[],
    filters: readonly JudgeFilters[] = [],
  ): Promise<Map<string, SpanTraits>> {
    return this.#source.reads.run(projectId, async (upTo) => {
      const scope = { projectId, upTo };
      const spans = new Map<string, SpanTraits>();
      for (let from = 0; from < wanted.length; from += IDS_AT_ONCE) {
        const rows = await this.#rows<TraitRow & { readonly named_trace: string | null }>(
          sql`SELECT ${traitColumns(true, { askedBy: filters })}, ${namedTrace} AS named_trace FROM spans
WHERE ${inProject(projectId)} AND id IN ${value(wanted.slice(from, from + IDS_AT_ONCE), 'Array(UUID)')} AND ${current(scope)}
ORDER BY ver DESC`,
        );
        const shown = await this.#withAnOutput(scope, [
          ...new Set(rows.flatMap(({ named_trace }) => named_trace ?? [])),
        ]);
        for (const row of rows) {
          if (spans.has(row.span)) continue;
          const showsTrace = row.named_trace !== null && shown.has(row.named_trace);
          spans.set(row.span, { ...toTraits(row), ...(showsTrace && { finished: true, has_content: true }) });
        }
      }
      return spans;
    });
  }

  async newest(
    projectId: string,
    filters: JudgeFilters,
    limit: number,
    before: SpanPlace | null = null,
  ): Promise<SpanTraits[]> {
    const conditions = [
      inProject(projectId),
      JUDGEABLE,
      ...(before === null ? [] : [isBefore(before)]),
      ...(isBounded([filters]) ? filterConditions(filters) : []),
    ];
    const rows = await this.#source.reads.run(projectId, (upTo) =>
      this.#rows<TraitRow>(
        sql`SELECT ${traitColumns(filters.prompt_slug !== null, { askedBy: [filters] })} FROM spans
WHERE ${join([...conditions, current({ projectId, upTo })], ' AND ')}
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC LIMIT ${value(limit, 'UInt64')}`,
      ),
    );
    return rows.map(toTraits);
  }

  /** Spans by id, the newest version first. */
  #spans(scope: ReadScope, wanted: readonly string[], where: Sql): Promise<JudgedSpanRow[]> {
    return this.#rows<JudgedSpanRow>(
      sql`SELECT ${judgedColumns(this.#source.maxCharacters)}
FROM spans
WHERE ${inProject(scope.projectId)} AND ${where} AND id IN ${value(wanted, 'Array(UUID)')} AND ${current(scope)}
ORDER BY ver DESC`,
    );
  }

  /** Results that only name the trace in which they were made have its output, as where results are listed. */
  async #withOutputs(projectId: string, rows: ReadonlyMap<string, JudgedSpanRow>): Promise<Map<string, JudgedSpan>> {
    const traces = [...new Set([...rows.values()].flatMap((row) => (onlyNamesTrace(row) ? (row.made_in ?? []) : [])))];
    // That may have come later than the state in which the spans were read.
    const shown =
      traces.length === 0
        ? new Map<string, ShownOutputRow>()
        : await this.#source.reads.run(projectId, (upTo) => this.#outputs({ projectId, upTo }, traces));
    return new Map(
      [...rows].map(([id, row]) => [id, toJudged(row, onlyNamesTrace(row) ? shown.get(row.made_in ?? '') : undefined)]),
    );
  }

  /** Traces whose root spans have an output, among some. */
  async #withAnOutput(scope: ReadScope, traces: readonly string[]): Promise<ReadonlySet<string>> {
    const roots = traces.length === 0 ? [] : await this.#rows<RootRow>(rootsOf(scope, traces));
    if (roots.length === 0) return new Set();
    const rows = await this.#rows<{ version: string }>(withOutput(scope, roots));
    const versions = new Set(rows.map(({ version }) => version));
    return new Set(roots.flatMap(({ id, version }) => (versions.has(version) ? [id] : [])));
  }

  /** Outputs of the root spans of traces, by these. */
  async #outputs(scope: ReadScope, traces: readonly string[]): Promise<ReadonlyMap<string, ShownOutputRow>> {
    const roots = await this.#rows<RootRow>(rootsOf(scope, traces));
    if (roots.length === 0) return new Map();
    const times = join(
      roots.map(({ started }) => moment(started)),
      ', ',
    );
    const versions = listOf(
      'UInt64',
      roots.map(({ version }) => version),
    );
    const rows = await this.#rows<ShownOutputRow>(
      sql`SELECT ${shownOutput(this.#source.maxCharacters)} FROM spans
WHERE ${inProject(scope.projectId)} AND started_at IN (${times}) AND ver IN ${versions} AND NOT no_output`,
    );
    return new Map(rows.map((row) => [row.of_trace, row]));
  }
}

function isBefore({ span_started_at, trace_id, span_id }: SpanPlace): Sql {
  return beyond({ started_at: span_started_at, trace_id, id: span_id }, true);
}

function ids(places: readonly SpanPlace[]): string[] {
  return [...new Set(places.map(({ span_id }) => span_id))];
}
