import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { spanList } from '../model/list/definitions.js';
import { byIds } from '../model/list/one.js';
import type { ListQuery } from '../model/list/query.js';
import type { SpanColumns, TraceSpans, TraceSpansRead } from '../model/trace/outline.js';
import { LONGEST_OUTLINED } from '../model/trace/outline-schema.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { number, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { openReader, type Reader, type ReadLimits } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { countOf, spanBounds, spanConditions, spanMatches } from './compile.js';
import { spanSource } from './sources.js';
import { readState, type StateParts } from './state.js';

/** All spans of a trace, without their texts, column by column. */
export class ClickHouseTraceSpans implements TraceSpans {
  readonly #reader: Reader;
  readonly #state: StateParts;

  constructor(client: ClickHouseClient, state: StateParts, limits: ReadLimits) {
    this.#reader = openReader(client, limits);
    this.#state = state;
  }

  read(projectId: string, traceId: string, limit: number, signal?: AbortSignal): Promise<TraceSpansRead> {
    const query = byIds(spanList, { trace_id: traceId }, limit);
    return readState(this.#state, { list: 'spans', projectId, ids: [traceId] }, async (scope) => {
      const columns = await this.#columns(scope, query, signal);
      const found = columns.id.length;
      const total = found < limit ? found : await this.#count(scope, query, signal);
      const isCurrent = !this.#state.notCurrent(projectId).stale.includes(traceId);
      return { columns, total, isCurrent };
    });
  }

  async #columns(scope: ReadScope, query: ListQuery, signal: AbortSignal | undefined): Promise<SpanColumns> {
    const answer = await text(await this.#reader.stream(statement(scope, query), { signal }));
    // A column is a line, between those of the brackets; without rows there are none. All at once would hold the event loop.
    const lines = answer.split('\n');
    const named: Record<string, unknown> = {};
    for (const [place, name] of Object.keys(SELECTED).entries()) {
      const line = lines[place + 1]?.trim() ?? '';
      named[name] = line.startsWith('[') ? JSON.parse(line.endsWith(',') ? line.slice(0, -1) : line) : [];
      await nextTurn();
    }
    return named as unknown as SpanColumns;
  }

  async #count(scope: ReadScope, query: ListQuery, signal: AbortSignal | undefined): Promise<number> {
    const [row] = await this.#reader.rows<{ total: string | number }>(countOf(spanMatches(scope, query)), { signal });
    return Number(row?.total ?? 0);
  }
}

/** The beginning of a text that is too long. */
const beginning = (text: Sql) =>
  sql`if(lengthUTF8(${text}) > ${number(LONGEST_OUTLINED)}, concat(leftUTF8(${text}, ${number(LONGEST_OUTLINED - 1)}), '…'), ${text})`;

const SELECTED: Readonly<Record<keyof SpanColumns, Sql>> = {
  id: sql`id`,
  parent: sql`parent_span_id`,
  name: beginning(sql`name`),
  kind: sql`kind`,
  status: sql`nullIf(status, '')`,
  started_at: sql`toUnixTimestamp64Micro(started_at)`,
  duration_ms: sql`duration_ms`,
  cost: sql`cost`,
  has_error: sql`has_error`,
  model: beginning(spanSource.columns['model'] ?? sql`NULL`),
  input_tokens: spanSource.columns['input_tokens'] ?? sql`NULL`,
  output_tokens: spanSource.columns['output_tokens'] ?? sql`NULL`,
};

function statement(scope: ReadScope, query: ListQuery): Sql {
  const [first, ...more] = Object.values(SELECTED);
  const selected = more.reduce((columns, column) => sql`${columns}, ${column}`, first ?? sql`1`);
  return sql`${spanBounds(scope, query)}SELECT ${selected}
FROM spans
WHERE ${spanConditions(scope, query)}
ORDER BY started_at, id
LIMIT ${value(query.limit, 'UInt64')}
FORMAT JSONCompactColumns SETTINGS output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0`;
}
