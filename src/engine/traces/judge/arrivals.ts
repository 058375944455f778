import { LRUCache } from 'lru-cache';
import { isBounded } from '../model/judged/filters.js';
import { sampleKey } from '../model/judged/sample.js';
import type { ArrivalFilter, ArrivalNews, ArrivalOutline, ArrivalPage, Arrivals } from '../model/judged/span-reader.js';
import type { Micros } from '../../timestamp.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { versionAt, versionOf, versionTime, type Version, type VersionClock } from '../write/version-clock.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import { join, listOf, literal, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { inProjectAtOnce } from '../read/scope.js';
import { supersededBy, written } from '../read/visibility.js';
import { sessionsOf } from './latest-wholes.js';
import { filterConditions, JUDGEABLE, toTraits, traitColumns, type TraitRow } from './span-rows.js';

export interface ArrivalSource {
  readonly client: ClickHouseClient;
  readonly clock: VersionClock;
  /** The version up to which everything is stored and rolled up right now. */
  readonly settled: () => Version;
  readonly reads: ReadsInProgress;
  /** Whether a project may have spans of experiments. */
  readonly hasMarked: (projectId: string) => boolean;
  readonly limits: ReadLimits;
}

/** How much time of arrivals one read looks at, in microseconds: adapted so that pages are neither empty nor full. */
const FIRST_WINDOW = 10e6;
const MIN_WINDOW = 50e3;
const MAX_WINDOW = 40 * 86_400e6;
/** Projects whose last window is remembered. */
const MAX_WINDOWS = 10_000;

/**
 * New spans in the order of their versions. Reading them waits for no rollup: those that are not rolled up yet are left for
 * the next read.
 */
export class ClickHouseArrivals implements Arrivals {
  readonly #source: ArrivalSource;
  readonly #rows: ReadRows;
  readonly #windows = new LRUCache<string, number>({ max: MAX_WINDOWS });
  #listener: () => void = () => undefined;

  constructor(source: ArrivalSource) {
    this.#source = source;
    this.#rows = openReader(source.client, source.limits, { max_threads: 1 }).rows;
  }

  now(): Micros {
    // A write of this same millisecond may still get its first version.
    return versionTime(Math.max(versionAt(Date.now()) - 1, this.#source.clock.last));
  }

  onArrival(listener: () => void): void {
    this.#listener = listener;
  }

  /** Call when spans were rolled up. */
  arrived(): void {
    this.#listener();
  }

  async read(
    projectId: string,
    after: Micros,
    filters: readonly ArrivalFilter[],
    limit: number,
    upTo = Infinity,
  ): Promise<ArrivalPage> {
    const settled = this.#source.settled();
    const from = versionOf(after);
    if (settled <= from) return { spans: [], upTo: after, more: false };
    const window = this.#windows.get(projectId) ?? FIRST_WINDOW;
    const end = Math.min(settled, from + window, versionOf(upTo));
    const arrived = { projectId, from, end, settled };
    const rows = filters.length === 0 ? [] : await this.#between(arrived, filters, limit);
    const full = rows.length >= limit;
    if (full) this.#windows.set(projectId, Math.max(MIN_WINDOW, window / 2));
    else if (rows.length < limit / 4) this.#windows.set(projectId, Math.min(MAX_WINDOW, window * 2));
    const last = full ? Number(rows.at(-1)?.version ?? end) : end;
    // A span that was repriced may be there twice.
    const tried = await this.#tried(arrived, rows);
    const once = rows.filter(
      ({ version, trace, experiment }, index) =>
        version !== rows[index - 1]?.version && (experiment !== null || !tried.has(trace)),
    );
    const sessions = await this.#sessions(projectId, filters, once);
    const spans = once.map((row) => ({
      ...toTraits(row),
      session_id: sessions.get(row.trace) ?? row.session,
    }));
    return { spans, upTo: versionTime(last), more: last < settled };
  }

  async outline(projectId: string, after: Micros, limit: number): Promise<ArrivalOutline[]> {
    const settled = this.#source.settled();
    const from = versionOf(after);
    if (settled <= from) return [];
    const rows = await this.#source.reads.at(settled, () =>
      this.#rows<OutlineRow>(sql`SELECT toString(id) AS span, toString(trace_id) AS trace, name, kind,
  toString(toUnixTimestamp64Micro(started_at)) AS started, toString(${written}) AS version
FROM spans
WHERE ${arrivedBetween({ projectId, from, end: settled, settled })}
ORDER BY ${written} LIMIT ${value(limit, 'UInt64')}`),
    );
    return rows.map(({ span, trace, name, kind, started, version }) => ({
      id: span,
      trace_id: trace,
      name,
      kind,
      started_at: Number(started),
      arrived_at: versionTime(Number(version)),
    }));
  }

  async news(after: Micros | null): Promise<ArrivalNews> {
    const settled = this.#source.settled();
    if (after === null) return { projects: null, upTo: versionTime(settled) };
    const from = versionOf(after);
    if (settled <= from) return { projects: new Set(), upTo: after };
    const rows = await this.#rows<{ project: string }>(sql`SELECT DISTINCT project_id AS project FROM spans
WHERE ver > ${value(from, 'Int64')} AND ver <= ${value(settled, 'UInt64')}`);
    return { projects: new Set(rows.map(({ project }) => project)), upTo: versionTime(settled) };
  }

  /** Traces of experiments, among those of some spans: a judge of others evaluates no step of a program that was only tried. */
  async #tried({ projectId, settled }: ArrivalWindow, rows: readonly ArrivalRow[]): Promise<ReadonlySet<string>> {
    const traces = [...new Set(rows.flatMap(({ trace, experiment }) => (experiment === null ? [trace] : [])))];
    if (traces.length === 0 || !this.#source.hasMarked(projectId)) return new Set();
    const wanted = listOf('UUID', traces);
    const found = await this.#source.reads.at(settled, () =>
      this.#rows<{
        trace: string;
      }>(sql`SELECT DISTINCT toString(arrayJoin([trace_id, made_in])) AS trace FROM experiment_spans
WHERE ${inProjectAtOnce(projectId)} AND (trace_id IN ${wanted} OR made_in IN ${wanted}) AND ver <= ${value(settled, 'UInt64')}
  AND ver NOT IN (${supersededBy(inProjectAtOnce(projectId), sql`${value(settled, 'UInt64')}`)})`),
    );
    return new Set(found.map(({ trace }) => trace));
  }

  /** The sessions of the traces of some spans, by trace, where a filter is about sessions. */
  async #sessions(
    projectId: string,
    filters: readonly ArrivalFilter[],
    rows: readonly TraitRow[],
  ): Promise<ReadonlyMap<string, string>> {
    if (!filters.some(({ subject }) => subject === 'session')) return new Map();
    const traces = [...new Set(rows.map(({ trace }) => trace))];
    return sessionsOf(this.#rows, { projectId }, traces, inProjectAtOnce(projectId));
  }

  #between(arrived: ArrivalWindow, filters: readonly ArrivalFilter[], limit: number): Promise<ArrivalRow[]> {
    const withPrompt = filters.some(({ filters: { prompt_slug } }) => prompt_slug !== null);
    const askedBy = filters.map((each) => each.filters);
    // Any span may change a trace or session that was evaluated.
    const ofWholes = filters.some(({ subject }) => subject === 'trace' || subject === 'session');
    const conditions = !ofWholes && isBounded(askedBy) ? join(filters.map(wanted), ' OR ') : sql`1`;
    const statement = sql`SELECT ${traitColumns(withPrompt, { askedBy })}, toString(session_id) AS session
FROM spans
WHERE ${arrivedBetween(arrived)} AND ${JUDGEABLE}
  AND (${conditions})
ORDER BY ${written} LIMIT ${value(limit, 'UInt64')}`;
    return this.#source.reads.at(arrived.settled, () => this.#rows<ArrivalRow>(statement));
  }
}

interface ArrivalRow extends TraitRow {
  readonly session: string | null;
}

type OutlineRow = Pick<TraitRow, 'span' | 'trace' | 'name' | 'kind' | 'started' | 'version'>;

/** The spans that arrived in a project after one version and up to another, as they are at a third. */
interface ArrivalWindow {
  readonly projectId: string;
  readonly from: Version;
  readonly end: Version;
  readonly settled: Version;
}

/**
 * Spans that clients sent, and did not send again before the end. One that was repriced since is where the price was
 * written, perhaps behind the end, and the version that was sent may be purged.
 */
function arrivedBetween({ projectId, from, end, settled }: ArrivalWindow): Sql {
  const version = (of: Version) => sql`${value(of, 'UInt64')}`;
  const [after, upTo] = [version(Math.max(0, from)), version(end)];
  const since = sql`${inProjectAtOnce(projectId)} AND ver > ${after}`;
  const countsAt = (state: Version) => sql`ver NOT IN (${supersededBy(since, version(state))})`;
  const here = sql`ver <= ${upTo} AND (origin_ver = 0 OR origin_ver > ${after}) AND ${countsAt(end)}`;
  const behind = sql`ver > ${upTo} AND ver <= ${version(settled)} AND origin_ver > ${after} AND origin_ver <= ${upTo} AND ${countsAt(settled)}`;
  return sql`${since} AND ${end < settled ? sql`(${here} OR ${behind})` : here}`;
}

function wanted({ judge_id, filters, sample_rate }: ArrivalFilter): Sql {
  const sampled =
    sample_rate >= 1
      ? []
      : [
          // `sampleHash` (`model/judged/sample.ts`) computes the same.
          sql`reinterpretAsUInt32(substring(SHA256(concat(toString(id), ${literal(sampleKey('', ''))}, ${value(judge_id, 'String')})), 1, 4)) < ${value(sample_rate * 2 ** 32, 'Float64')}`,
        ];
  const conditions = [sql`1`, ...filterConditions(filters), ...sampled];
  return sql`(${join(conditions, ' AND ')})`;
}
