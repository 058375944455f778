import type { CallsWithoutCost, SpanTimes, UnpricedCalls } from './model/prices/unpriced-calls.js';
import type { Window } from '../schema/page.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { join, sql, value, type Sql } from './clickhouse/client/sql.js';
import type { ReadsInProgress } from './read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from './read/row-reader.js';
import { inProject, type ReadScope } from './read/scope.js';
import { moment } from './read/times.js';
import { unpriced } from './read/unpriced.js';
import { current } from './read/visibility.js';

interface Row {
  readonly vendor: string;
  readonly name: string;
  readonly calls: string;
  readonly input: string;
  readonly output: string;
  readonly latest: string;
}

/** Calls of models without a cost, counted by what their columns say. */
export class ClickHouseUnpricedCalls implements UnpricedCalls {
  readonly #rows: ReadRows;
  readonly #reads: ReadsInProgress;

  constructor(client: ClickHouseClient, reads: ReadsInProgress, limits: ReadLimits) {
    this.#rows = openReader(client, limits).rows;
    this.#reads = reads;
  }

  page(projectId: string, times: SpanTimes, { limit, offset }: Window, signal?: AbortSignal) {
    const all = { figures: false, traces: null };
    return this.#reads.ofCommitted(projectId, all, async ({ upTo, traces }) => {
      const where = conditions({ projectId, upTo, unsettled: traces }, times);
      const [counted] = await this.#rows<{ readonly total: string }>(
        sql`SELECT toString(uniqExact(provider, model)) AS total FROM spans WHERE ${where}`,
        { signal },
      );
      const rows = await this.#rows<Row>(
        sql`SELECT provider AS vendor, model AS name, toString(count()) AS calls, toString(sum(spans.input_tokens)) AS input,
  toString(ifNull(sum(spans.output_tokens), 0)) AS output, toString(toUnixTimestamp64Micro(max(started_at))) AS latest
FROM spans WHERE ${where} GROUP BY provider, model ORDER BY count() DESC, provider, model
LIMIT ${value(limit, 'UInt64')} OFFSET ${value(offset, 'UInt64')}`,
        { signal },
      );
      return { models: rows.map(toCalls), total: Number(counted?.total ?? 0) };
    });
  }
}

function conditions(scope: ReadScope, { from, to }: SpanTimes): Sql {
  const parts = [
    inProject(scope.projectId),
    ...(from === null ? [] : [sql`started_at >= ${moment(from)}`]),
    ...(to === null ? [] : [sql`started_at <= ${moment(to)}`]),
    unpriced,
    current(scope),
  ];
  return join(parts, ' AND ');
}

function toCalls({ vendor, name, calls, input, output, latest }: Row): CallsWithoutCost {
  return {
    provider: vendor === '' ? null : vendor,
    model: name,
    spans: Number(calls),
    input_tokens: Number(input),
    output_tokens: Number(output),
    latest: Number(latest),
  };
}
