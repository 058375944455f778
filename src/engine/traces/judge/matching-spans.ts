import type { Matches, MatchingSpans, Wanted } from '../model/judged/matching-spans.js';
import type { JudgeFilters } from '../model/judged/filters.js';
import type { SpanPlace } from '../model/judged/span-reader.js';
import type { Micros } from '../../timestamp.js';
import { invalid } from '../../validation/validation.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { versionOf } from '../write/version-clock.js';
import { completionOf } from '../read/prompt-names.js';
import type { ReadsInProgress } from '../read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from '../read/row-reader.js';
import { inProject } from '../read/scope.js';
import { current } from '../read/visibility.js';
import { filterConditions, isBounded, JUDGEABLE, MAX_FILTERS } from './span-rows.js';

const TOO_LONG = {
  pointer: '/filters',
  detail: `must have at most ${MAX_FILTERS} characters in total for a preview`,
};

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
    const all = { figures: false, traces: null };
    return this.#reads.ofCommitted(projectId, all, async ({ upTo, traces }) => {
      const { filters, prompt, latest } = wanted;
      const matching = (by: JudgeFilters, ...more: readonly Sql[]) =>
        join(
          [
            inProject(projectId),
            arrivedAfter(since),
            JUDGEABLE,
            ...filterConditions(by),
            ...(prompt === null ? [] : [completionOf(prompt)]),
            ...more,
            current({ projectId, upTo, unsettled: traces }),
          ],
          ' AND ',
        );
      const where = matching(filters);
      const [counted] = await this.#rows<{ readonly spans: string }>(
        sql`SELECT toString(count()) AS spans FROM spans WHERE ${where}`,
        { signal },
      );
      const rows = await this.#rows<PlaceRow>(
        sql`SELECT toString(id) AS span, toString(trace_id) AS trace, toString(toUnixTimestamp64Micro(started_at)) AS started
FROM spans WHERE ${where}
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC LIMIT ${value(latest, 'UInt64')}`,
        { signal },
      );
      const others = matching({ ...filters, kinds: [] }, sql`kind NOT IN ${value(filters.kinds, 'Array(String)')}`);
      const kinds =
        filters.kinds.length === 0
          ? []
          : await this.#rows<KindRow>(
              sql`SELECT kind, toString(count()) AS spans FROM spans WHERE ${others}
GROUP BY kind ORDER BY count() DESC, kind LIMIT ${value(KINDS, 'UInt64')}`,
              { signal },
            );
      return {
        count: Number(counted?.spans ?? 0),
        latest: rows.map(toPlace),
        otherKinds: kinds.map(({ kind, spans }) => ({ kind, spans: Number(spans) })),
      };
    });
  }
}

/** Spans that a client sent after a moment: of one that was priced anew since, the version that was sent counts. */
function arrivedAfter(moment: Micros): Sql {
  const after = sql`${value(Math.max(0, versionOf(moment)), 'UInt64')}`;
  return sql`ver > ${after} AND (origin_ver = 0 OR origin_ver > ${after})`;
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
