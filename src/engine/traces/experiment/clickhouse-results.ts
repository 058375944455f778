import type {
  ExperimentFigures,
  ExperimentResults,
  ResultOutline,
  ResultQuery,
  StoredResult,
} from '../model/experiment/results.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import type { Sql } from '../clickhouse/client/sql.js';
import { LIST_SETTINGS } from '../list/list-reads.js';
import { readState, type StateParts } from '../list/state.js';
import { openReader, type Reader, type ReadLimits } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { versionTime } from '../write/version-clock.js';
import { readFigures } from './result-figures.js';
import { MeasuredReads } from './measured-reads.js';
import { ScoreReads } from './score-reads.js';
import {
  idsAfter,
  outlinesAfter,
  presentAfter,
  presentAmong,
  resultCount,
  resultPage,
  sharedTraces,
  spansAfter,
  tracesOf,
  type OutlineRow,
  type PresentRow,
  type ResultPlace,
  type ResultRow,
  type TraceRow,
} from './result-statements.js';
import { ResultTexts, tracesOfAll } from './result-texts.js';

/** Results, or spans, that are handed out together. */
const PORTION = 5_000;
/** Rows of which it is read together whether they have results, and results of which the ids are. */
const ROWS_AT_ONCE = 25_000;
/** Characters of the text of a score of a page. */
const SHOWN_TEXT = 1_000;

/** What the trace of a result took, or where several were made in it, its span. */
type Taken = Pick<StoredResult, 'cost' | 'duration_ms' | 'input_tokens' | 'output_tokens'>;

/** The results of experiments: an index names their spans, whose traces and scores are read as lists read them. */
export class ClickHouseExperimentResults implements ExperimentResults {
  readonly #reader: Reader;
  readonly #state: StateParts;
  readonly #texts: ResultTexts;
  readonly #scores: ScoreReads;
  readonly #measured: MeasuredReads;

  constructor(client: ClickHouseClient, state: StateParts, limits: ReadLimits) {
    this.#reader = openReader(client, limits, { ...LIST_SETTINGS, result_overflow_mode: 'throw' });
    this.#state = state;
    this.#texts = new ResultTexts(this.#reader.rows);
    this.#scores = new ScoreReads(this.#reader.rows);
    this.#measured = new MeasuredReads(this.#reader, this.#scores);
  }

  page(projectId: string, query: ResultQuery, signal?: AbortSignal) {
    return this.#read(projectId, async (scope) => {
      const beyond = await this.#reader.rows<ResultRow>(resultPage(scope, { ...query, limit: query.limit + 1 }), {
        signal,
      });
      const found = beyond.slice(0, query.limit);
      const shown = query.idsOnly === true ? [] : found;
      const several = await this.#several(scope, query.experimentId, shown, signal);
      const [taken, scores, { texts, kept }, total] = await Promise.all([
        this.#taken(scope, several, shown, signal),
        this.#scores.of(scope, shown, { several, longest: SHOWN_TEXT }, signal),
        this.#texts
          .first(scope, shown, signal)
          .then((read) => (query.idsOnly === true ? { ...read, kept: found.length } : read)),
        query.count ? this.#count(scope, query, signal) : null,
      ]);
      const results = found.slice(0, kept).map((row): StoredResult => {
        const { output = null, message = null } = texts.get(row.version) ?? {};
        return {
          ...{ id: row.span, trace_id: row.made, row_id: row.row_id, repetition: row.repetition },
          ...{ has_error: row.has_error === 1, ...(taken.get(row.version) ?? NOTHING) },
          scores: scores.get(row) ?? {},
          output_data: output ?? '',
          error_message: message,
          created_at: versionTime(Number(row.received)),
        };
      });
      return { results, total, next: beyond.length > kept ? query.offset + kept : null };
    });
  }

  async costOf(projectId: string, traceIds: readonly string[], signal?: AbortSignal): Promise<number | null> {
    if (traceIds.length === 0) return null;
    const rows = await this.#read(projectId, (scope) =>
      this.#reader.rows<TraceRow>(tracesOf(scope, traceIds), { signal }),
    );
    const known = rows.flatMap(({ cost }) => (cost === null ? [] : [Number(cost)]));
    return known.length === 0 ? null : known.reduce((sum, cost) => sum + cost, 0);
  }

  figures(projectId: string, experimentIds: readonly string[], signal?: AbortSignal) {
    if (experimentIds.length === 0) return Promise.resolve(new Map<string, ExperimentFigures>());
    return this.#read(projectId, (scope) => readFigures(this.#reader.rows, scope, experimentIds, { signal }));
  }

  async *measured(projectId: string, experimentId: string, scores: readonly string[], signal?: AbortSignal) {
    for await (const scope of this.#held(projectId)) {
      yield* this.#measured.all(scope, experimentId, scores, signal);
    }
  }

  presentOf(projectId: string, experimentId: string, rowIds: readonly string[], signal?: AbortSignal) {
    return this.#read(projectId, (scope) =>
      this.#reader.rows<PresentRow>(presentAmong(scope, experimentId, rowIds), { signal }),
    );
  }

  async *present(projectId: string, experimentId: string, signal?: AbortSignal) {
    const behind = (scope: ReadScope, last: PresentRow | null) =>
      presentAfter(scope, experimentId, last?.row ?? '', ROWS_AT_ONCE);
    for await (const { rows } of this.#portions(projectId, ROWS_AT_ONCE, behind, signal)) yield rows;
  }

  async *outlines(projectId: string, experimentId: string, signal?: AbortSignal) {
    const behind = (scope: ReadScope, last: OutlineRow | null) => outlinesAfter(scope, experimentId, last, PORTION);
    for await (const { scope, rows } of this.#portions(projectId, PORTION, behind, signal)) {
      const showingTrace = await this.#texts.ofTraces(scope, rows, signal);
      yield rows.map((row) => toOutline(row, showingTrace));
    }
  }

  async *ids(projectId: string, experimentId: string, signal?: AbortSignal) {
    const behind = (scope: ReadScope, last: IdRow | null) => idsAfter(scope, experimentId, last, ROWS_AT_ONCE);
    for await (const { rows } of this.#portions(projectId, ROWS_AT_ONCE, behind, signal))
      yield rows.map(({ span }) => span);
  }

  async *spansOf(projectId: string, experimentId: string, signal?: AbortSignal) {
    const behind = (scope: ReadScope, last: SpanRow | null) => spansAfter(scope, experimentId, last, PORTION);
    for await (const { rows } of this.#portions(projectId, PORTION, behind, signal))
      yield rows.map(({ span, trace }) => ({ id: span, trace_id: trace }));
  }

  #read<T>(projectId: string, read: (scope: ReadScope) => Promise<T>): Promise<T> {
    return readState(this.#state, { list: 'traces', projectId }, read);
  }

  /** The state of a project, once: it is held as long as the loop runs. */
  async *#held(projectId: string): AsyncGenerator<ReadScope> {
    const { reads, notCurrent } = this.#state;
    const held = await reads.openCommitted(projectId, { figures: true, traces: null });
    try {
      const aside = notCurrent(projectId).traces;
      const { upTo, traces } = held.state;
      yield { projectId, upTo, unsettled: traces.filter((id) => !aside.includes(id)), aside };
    } finally {
      held.release();
    }
  }

  /** All rows of one state, in portions: a statement reads those behind the last row of the portion before. */
  async *#portions<Row>(
    projectId: string,
    size: number,
    behind: (scope: ReadScope, last: Row | null) => Sql,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<{ readonly scope: ReadScope; readonly rows: readonly Row[] }> {
    for await (const scope of this.#held(projectId)) {
      let last: Row | null = null;
      for (let read = size; read === size;) {
        const rows: readonly Row[] = await this.#reader.rows<Row>(behind(scope, last), { signal });
        read = rows.length;
        last = rows.at(-1) ?? null;
        if (read > 0) yield { scope, rows };
      }
    }
  }

  /** The traces among those of results in which several results were made. */
  async #several(
    scope: ReadScope,
    experiment: string,
    results: readonly ResultRow[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlySet<string>> {
    if (results.length === 0) return new Set();
    const statement = sharedTraces(scope, experiment, tracesOfAll(results));
    const rows = await this.#reader.rows<{ id: string }>(statement, { signal });
    return new Set(rows.map(({ id }) => id));
  }

  /** What results took, by the versions of their spans. */
  async #taken(
    scope: ReadScope,
    several: ReadonlySet<string>,
    results: readonly ResultRow[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, Taken>> {
    if (results.length === 0) return new Map();
    const traces = await this.#reader.rows<TraceRow>(tracesOf(scope, tracesOfAll(results)), { signal });
    const byId = new Map(traces.map((trace) => [trace.id, trace]));
    return new Map(results.map((row) => [row.version, takenBy(several.has(row.made) ? row : byId.get(row.made))]));
  }

  async #count(scope: ReadScope, query: ResultQuery, signal: AbortSignal | undefined): Promise<number> {
    const [row] = await this.#reader.rows<{ total: string }>(resultCount(scope, query), { signal });
    return Number(row?.total ?? 0);
  }
}

type IdRow = ResultPlace & Pick<ResultRow, 'span'>;

interface SpanRow extends ResultPlace {
  readonly span: string;
  readonly trace: string;
  readonly version: string;
}

const NOTHING: Taken = { cost: null, duration_ms: null, input_tokens: null, output_tokens: null };

const numberOf = (text: string | null) => (text === null ? null : Number(text));

function takenBy(row: Omit<TraceRow, 'id'> | undefined): Taken {
  if (row === undefined) return NOTHING;
  const { cost, duration_ms, input, output } = row;
  return {
    cost: numberOf(cost),
    duration_ms,
    input_tokens: numberOf(input),
    output_tokens: numberOf(output),
  };
}

/** @param showingTrace versions of those whose output is that of the trace that they name */
function toOutline(row: OutlineRow, showingTrace: ReadonlySet<string>): ResultOutline {
  const { span, trace, made, version, started, has_error, has_output, row_id, repetition } = row;
  const isLinked = showingTrace.has(version);
  const about = { row_id, repetition, has_error: has_error === 1, has_output: has_output === 1 || isLinked };
  return {
    id: span,
    span_trace_id: trace,
    shown_trace_id: isLinked ? made : trace,
    started_at: Number(started),
    ...about,
  };
}
