import { sampleKey } from '../../../domain/judge/matching.js';
import type { Arrival, ArrivalFilter, ArrivalPage, Arrivals } from '../../../domain/judge/span-reader.js';
import type { Micros } from '../../../domain/time/timestamp.js';
import type { ClickHouseClient } from '../client.js';
import { EPOCH_SECONDS, versionAt, versionTime, type Version, type VersionClock } from '../commit/version-clock.js';
import { rowReader, type ReadRows } from '../row-reader.js';
import { join, literal, sql, value, type Sql } from '../sql.js';
import { filterConditions, JUDGEABLE, toTraits, traitColumns, type TraitRow } from './span-rows.js';

export interface ArrivalSource {
  readonly client: ClickHouseClient;
  readonly clock: VersionClock;
  /** Up to which version everything is stored and rolled up right now; null while that is not known. */
  readonly settled: () => Version | null;
  readonly timeoutSeconds: number;
}

/** How much time of arrivals one read looks at, in microseconds: adapted so that pages are neither empty nor full. */
const FIRST_WINDOW = 10e6;
const MIN_WINDOW = 50e3;
const MAX_WINDOW = 40 * 86_400e6;

/**
 * New spans in the order of their versions. It waits for no rollup: what is not rolled up yet is left for the next read.
 */
export class ClickHouseArrivals implements Arrivals {
  readonly #source: ArrivalSource;
  readonly #rows: ReadRows;
  #window = FIRST_WINDOW;
  #listener: () => void = () => undefined;

  constructor(source: ArrivalSource) {
    this.#source = source;
    this.#rows = rowReader(source.client, { timeoutSeconds: source.timeoutSeconds }, { max_threads: 1 });
  }

  now(): Micros {
    // A write of this same millisecond may still get its first version.
    return versionTime(Math.max(versionAt(Date.now()) - 1, this.#source.clock.last));
  }

  onArrival(listener: () => void): void {
    this.#listener = listener;
  }

  /** To be called when spans were rolled up. */
  arrived(): void {
    this.#listener();
  }

  async read(after: Micros, filters: readonly ArrivalFilter[], limit: number): Promise<ArrivalPage> {
    const settled = this.#source.settled();
    const from = after - EPOCH_SECONDS * 1_000_000;
    if (settled === null || settled <= from) return { spans: [], upTo: after, more: false };
    const end = Math.min(settled, from + this.#window);
    const rows = filters.length === 0 ? [] : await this.#between(from, end, filters, limit);
    const full = rows.length >= limit;
    if (full) this.#window = Math.max(MIN_WINDOW, this.#window / 2);
    else if (rows.length < limit / 4) this.#window = Math.min(MAX_WINDOW, this.#window * 2);
    const last = full ? Number(rows.at(-1)?.version ?? end) : end;
    return {
      spans: rows.map((row): Arrival => ({ ...toTraits(row), project_id: row.project })),
      upTo: versionTime(last),
      more: last < settled,
    };
  }

  #between(from: Version, end: Version, filters: readonly ArrivalFilter[], limit: number): Promise<TraitRow[]> {
    const [after, upTo] = [sql`${value(from, 'Int64')}`, sql`${value(end, 'UInt64')}`];
    const projects = value([...new Set(filters.map(({ project_id }) => project_id))], 'Array(String)');
    const withPrompt = filters.some(({ filters: { prompt_slug } }) => prompt_slug !== null);
    const statement = sql`SELECT ${traitColumns(withPrompt)}
FROM spans
WHERE project_id IN ${projects} AND ver > ${after} AND ver <= ${upTo} AND origin_ver = 0 AND ${JUDGEABLE}
  AND (${join(filters.map(wanted), ' OR ')})
  AND ver NOT IN (SELECT ver FROM superseded WHERE project_id IN ${projects} AND ver > ${after} AND next_ver <= ${upTo})
ORDER BY ver LIMIT ${value(limit, 'UInt64')}`;
    return this.#rows<TraitRow>(statement);
  }
}

function wanted({ project_id, judge_id, filters, sample_rate }: ArrivalFilter): Sql {
  const sampled =
    sample_rate >= 1
      ? []
      : [
          // As `sampleHash` of the domain.
          sql`reinterpretAsUInt32(substring(SHA256(concat(toString(id), ${literal(sampleKey('', ''))}, ${value(judge_id, 'String')})), 1, 4)) < ${value(sample_rate * 2 ** 32, 'Float64')}`,
        ];
  const conditions = [sql`project_id = ${value(project_id, 'String')}`, ...filterConditions(filters), ...sampled];
  return sql`(${join(conditions, ' AND ')})`;
}
