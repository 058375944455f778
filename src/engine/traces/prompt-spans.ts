import type {
  CallFigures,
  CompletionSelection,
  CompletionSpan,
  CompletionTexts,
  PromptSpans,
} from './model/prompts/prompt-spans.js';
import type { Window } from '../schema/page.js';
import type { ClickHouseClient } from './clickhouse/client/client.js';
import { empty, join, sql, value, type Sql } from './clickhouse/client/sql.js';
import { excerpt } from './read/excerpt.js';
import { completionOf, versionNamed } from './read/prompt-names.js';
import type { ReadsInProgress } from './read/reads-in-progress.js';
import { openReader, type ReadLimits, type ReadRows } from './read/row-reader.js';
import { inProject, type ReadScope } from './read/scope.js';
import { beyond, moment } from './read/times.js';
import { current } from './read/visibility.js';

/** Spans that one statement of a walk reads. */
const PORTION = 10_000;
const NONE = 'none';

/** The completions of prompts among the spans, without what is said of them. */
export class ClickHousePromptSpans implements PromptSpans {
  readonly #rows: ReadRows;
  readonly #reads: ReadsInProgress;

  constructor(client: ClickHouseClient, reads: ReadsInProgress, limits: ReadLimits) {
    this.#rows = openReader(client, limits).rows;
    this.#reads = reads;
  }

  page(of: CompletionSelection, window: Window, signal?: AbortSignal) {
    return this.#at(of.projectId, async (scope) => {
      const total = await this.#count(scope, of, signal);
      return { spans: await this.#places(scope, of, window, null, signal), total };
    });
  }

  walk(
    of: CompletionSelection,
    max: number,
    visit: (spans: readonly CompletionSpan[]) => Promise<void>,
    signal?: AbortSignal,
  ): Promise<number> {
    return this.#at(of.projectId, async (scope) => {
      const total = await this.#count(scope, of, signal);
      let last: CompletionSpan | null = null;
      for (let left = Math.min(max, total); left > 0;) {
        const window = { limit: Math.min(left, PORTION), offset: 0 };
        const spans = await this.#places(scope, of, window, last, signal);
        await visit(spans);
        left = spans.length < window.limit ? 0 : left - spans.length;
        last = spans.at(-1) ?? null;
      }
      return total;
    });
  }

  async texts(
    projectId: string,
    spans: readonly CompletionSpan[],
    max: number,
    signal?: AbortSignal,
  ): Promise<Map<string, CompletionTexts>> {
    if (spans.length === 0) return new Map();
    const times = join(
      spans.map(({ started_at }) => moment(started_at)),
      ', ',
    );
    const ids = value([...new Set(spans.map(({ id }) => id))], 'Array(UUID)');
    const rows = await this.#at(projectId, (scope) =>
      this.#rows<CompletionTexts & { readonly span: string }>(
        sql`SELECT toString(id) AS span, ${excerpt(sql`input_data`, max)} AS input, ${excerpt(sql`output_data`, max)} AS output FROM spans
WHERE ${inProject(projectId)} AND started_at IN (${times}) AND id IN ${ids} AND ${current(scope)}`,
        { signal },
      ),
    );
    return new Map(rows.map(({ span, input, output }) => [span, { input, output }]));
  }

  async figures(of: CompletionSelection, signal?: AbortSignal): Promise<readonly CallFigures[]> {
    const rows = await this.#at(of.projectId, (scope) =>
      this.#rows<FiguresRow>(
        sql`SELECT ${versionNamed(of.prompt)} AS version, toString(count()) AS calls, toString(countIf(has_error)) AS errors,
  toString(sum(spans.cost)) AS cost, quantilesExact(0.5, 0.95)(duration_ms) AS durations, count(duration_ms) > 0 AS timed,
  toString(ifNull(sum(spans.input_tokens), 0)) AS input_tokens,
  toString(ifNull(sum(spans.output_tokens), 0)) AS output_tokens
FROM spans WHERE ${conditions(scope, of)} GROUP BY version`,
        { signal },
      ),
    );
    return rows.map(toFigures);
  }

  #at<T>(projectId: string, read: (scope: ReadScope) => Promise<T>): Promise<T> {
    const all = { figures: false, traces: null };
    return this.#reads.ofCommitted(projectId, all, ({ upTo, traces }) => read({ projectId, upTo, unsettled: traces }));
  }

  async #count(scope: ReadScope, of: CompletionSelection, signal?: AbortSignal): Promise<number> {
    const counted = sql`SELECT toString(count()) AS total FROM spans WHERE ${conditions(scope, of)}`;
    const [row] = await this.#rows<{ readonly total: string }>(counted, { signal });
    return Number(row?.total ?? 0);
  }

  async #places(
    scope: ReadScope,
    of: CompletionSelection,
    { limit, offset }: Window,
    last: CompletionSpan | null,
    signal?: AbortSignal,
  ): Promise<CompletionSpan[]> {
    const direction = of.descending ? sql`DESC` : sql`ASC`;
    const behind = last === null ? empty : sql` AND ${beyond(last, of.descending)}`;
    const rows = await this.#rows<SpanRow>(
      sql`SELECT toString(id) AS span, toString(trace_id) AS trace, toString(toUnixTimestamp64Micro(started_at)) AS started, name,
  has_error AS failed, duration_ms, toString(cost) AS amount, ${versionNamed(of.prompt)} AS version
FROM spans WHERE ${conditions(scope, of)}${behind}
ORDER BY project_id ${direction}, started_at ${direction}, trace_id ${direction}, id ${direction}
LIMIT ${value(limit, 'UInt64')} OFFSET ${value(offset, 'UInt64')}`,
      { signal },
    );
    return rows.map(toSpan);
  }
}

function conditions(scope: ReadScope, { prompt, version, from, to }: CompletionSelection): Sql {
  const parts = [
    inProject(scope.projectId),
    ...(from === null ? [] : [sql`started_at >= ${moment(from)}`]),
    ...(to === null ? [] : [sql`started_at <= ${moment(to)}`]),
    completionOf(prompt),
    ...(version === null ? [] : [sql`${versionNamed(prompt)} = ${value(version === NONE ? '' : version, 'String')}`]),
    current(scope),
  ];
  return join(parts, ' AND ');
}

interface SpanRow {
  readonly span: string;
  readonly trace: string;
  readonly started: string;
  readonly name: string;
  readonly failed: number;
  readonly duration_ms: number | null;
  readonly amount: string | null;
  /** Id of the version that the span names; empty: of none. */
  readonly version: string;
}

function toSpan({ span, trace, started, name, failed, duration_ms, amount, version }: SpanRow): CompletionSpan {
  return {
    id: span,
    trace_id: trace,
    started_at: Number(started),
    name,
    has_error: failed === 1,
    duration_ms,
    cost: amount === null ? null : Number(amount),
    version_id: version === '' ? null : version,
  };
}

interface FiguresRow {
  readonly version: string;
  readonly calls: string;
  readonly errors: string;
  readonly cost: string | null;
  readonly durations: readonly (number | null)[];
  /** Whether any has a duration. */
  readonly timed: number;
  readonly input_tokens: string;
  readonly output_tokens: string;
}

function toFigures({
  version,
  calls,
  errors,
  cost,
  durations,
  timed,
  input_tokens,
  output_tokens,
}: FiguresRow): CallFigures {
  const [p50 = null, p95 = null] = timed === 1 ? durations : [];
  return {
    version_id: version === '' ? null : version,
    calls: Number(calls),
    errors: Number(errors),
    cost: cost === null ? null : Number(cost),
    duration_ms: { p50, p95 },
    input_tokens: Number(input_tokens),
    output_tokens: Number(output_tokens),
  };
}
