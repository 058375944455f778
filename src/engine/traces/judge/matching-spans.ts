import type { KindCount, Matches, MatchingSpans, Wanted } from '../model/judged/matching-spans.js';
import { isBounded, type JudgeFilters } from '../model/judged/filters.js';
import type { SpanPlace } from '../model/judged/span-reader.js';
import type { Micros } from '../../timestamp.js';
import { invalid } from '../../validation/validation.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { versionOf } from '../write/version-clock.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { current } from '../read/visibility.js';
import { countOfWholes, latestWholes, type Spans } from './latest-wholes.js';
import { matches, TOO_LONG } from './span-rows.js';

/** Most kinds that are named beside those of the filters. */
const KINDS = 10;

/** Spans that match the filters of a judge, counted. */
export class ClickHouseMatchingSpans implements MatchingSpans {
  readonly #rows: ReadRows;
  readonly #reads: ReadsInProgress;

  constructor(client: ClickHouseClient, reads: ReadsInProgress, limits: ReadLimits) {
    this.#rows = openReader(client, limits).rows;
    this.#reads = reads;
  }

  arrivedSince(projectId: string, wanted: Wanted, since: Micros, signal?: AbortSignal): Promise<Matches> {
    if (!isBounded([wanted.filters])) throw invalid([TOO_LONG]);
    // Sessions of traces are read as they are rolled up.
    if (wanted.subject === 'session')
      return this.#reads.run(projectId, (upTo) => this.#matches({ projectId, upTo }, wanted, since, signal));
    const all = { figures: false, traces: null };
    return this.#reads.ofCommitted(projectId, all, ({ upTo, traces }) =>
      this.#matches({ projectId, upTo, unsettled: traces }, wanted, since, signal),
    );
  }

  async #matches(scope: ReadScope, wanted: Wanted, since: Micros, signal?: AbortSignal): Promise<Matches> {
    const { filters, prompt, latest, subject = 'span' } = wanted;
    const { projectId } = scope;
    const matching = (by: JudgeFilters, ...more: readonly Sql[]) =>
      join([...matches(projectId, { filters: by, prompt }), arrivedAfter(since), ...more, current(scope)], ' AND ');
    const where = matching(filters);
    const spans = { projectId, where, signal };
    const others = matching({ ...filters, kinds: [] }, sql`kind NOT IN ${value(filters.kinds, 'Array(String)')}`);
    const counted =
      subject === 'span'
        ? sql`SELECT toString(count()) AS subjects, subjects AS evaluations FROM spans WHERE ${where}`
        : countOfWholes(subject, spans, wanted.again);
    const [{ subjects = '0', evaluations = '0' } = {}] = await this.#rows<Partial<CountRow>>(counted, { signal });
    const wholes = subject === 'span' ? [] : await latestWholes(this.#rows, subject, spans, latest);
    return {
      count: Number(subjects),
      evaluations: Number(evaluations),
      latest: subject === 'span' ? await this.#latest(spans, latest) : wholes.map(({ span }) => span),
      wholes: wholes.map(({ id }) => id),
      otherKinds: filters.kinds.length === 0 ? [] : await this.#kinds({ ...spans, where: others }),
    };
  }

  async #latest({ where, signal }: Spans, limit: number): Promise<SpanPlace[]> {
    const rows = await this.#rows<PlaceRow>(
      sql`SELECT toString(id) AS span, toString(trace_id) AS trace, toString(toUnixTimestamp64Micro(started_at)) AS started
FROM spans WHERE ${where}
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC LIMIT ${value(limit, 'UInt64')}`,
      { signal },
    );
    return rows.map(toPlace);
  }

  async #kinds({ where, signal }: Spans): Promise<KindCount[]> {
    const rows = await this.#rows<KindRow>(
      sql`SELECT kind, toString(count()) AS spans FROM spans WHERE ${where}
GROUP BY kind ORDER BY count() DESC, kind LIMIT ${value(KINDS, 'UInt64')}`,
      { signal },
    );
    return rows.map(({ kind, spans }) => ({ kind, spans: Number(spans) }));
  }
}

/** Spans that a client sent after a moment: of one that was repriced since, the version that was sent counts. */
function arrivedAfter(moment: Micros): Sql {
  const after = sql`${value(Math.max(0, versionOf(moment)), 'UInt64')}`;
  return sql`ver > ${after} AND (origin_ver = 0 OR origin_ver > ${after})`;
}

interface CountRow {
  readonly subjects: string;
  readonly evaluations: string;
}

interface KindRow {
  readonly kind: string;
  readonly spans: string;
}

interface PlaceRow {
  readonly span: string;
  readonly trace: string;
  readonly started: string;
}

function toPlace({ span, trace, started }: PlaceRow): SpanPlace {
  return { span_id: span, trace_id: trace, span_started_at: Number(started) };
}
