import type {
  ExperimentFigures,
  ExperimentResults,
  MeasuredResult,
  ResultQuery,
  ScoreFigures,
  StoredResult,
} from '../model/experiment/results.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { LIST_SETTINGS } from '../list/list-reads.js';
import { readState, type StateParts } from '../list/state.js';
import { openReader, type Reader, type ReadLimits } from '../read/row-reader.js';
import type { ReadScope } from '../read/scope.js';
import { versionTime } from '../write/version-clock.js';
import {
  figuresOf,
  resultCount,
  resultPage,
  resultsAfter,
  scoreFiguresOf,
  scoresOf,
  sharedTraces,
  spansAfter,
  textsOf,
  tracesOf,
  type FigureRow,
  type ResultPlace,
  type ResultRow,
  type ScoreFigureRow,
  type ScoreRow,
  type TextRow,
  type TraceRow,
} from './result-statements.js';

/** Results of one portion. */
const PORTION = 10_000;
/** Characters of the text of a score: of a page, and where all results are read. */
const SHOWN_TEXT = 1_000;
const MEASURED_TEXT = 200;
/** Results whose texts one statement names. */
const TEXTS_AT_ONCE = 500;

/** What the trace of a result took, or where several were made in it, its span. */
type Taken = Pick<StoredResult, 'cost' | 'duration_ms' | 'input_tokens' | 'output_tokens'>;

/** The results of experiments: an index names their spans, whose traces and scores are read as lists read them. */
export class ClickHouseExperimentResults implements ExperimentResults {
  readonly #reader: Reader;
  readonly #state: StateParts;

  constructor(client: ClickHouseClient, state: StateParts, limits: ReadLimits) {
    this.#reader = openReader(client, limits, { ...LIST_SETTINGS, result_overflow_mode: 'throw' });
    this.#state = state;
  }

  page(projectId: string, query: ResultQuery, signal?: AbortSignal) {
    return this.#read(projectId, async (scope) => {
      const found = await this.#reader.rows<ResultRow>(resultPage(scope, query), { signal });
      const [taken, scores, texts, total] = await Promise.all([
        this.#taken(scope, query.experimentId, found, signal),
        this.#scores(scope, found, null, SHOWN_TEXT, signal),
        this.#texts(scope, found, signal),
        query.count ? this.#count(scope, query, signal) : null,
      ]);
      const results = found.map((row): StoredResult => {
        const { output = null, message = null } = texts.get(row.version) ?? {};
        return {
          ...measured(row, taken, scores),
          trace_id: row.made,
          output: output ?? '',
          error_message: message,
          created_at: versionTime(Number(row.received)),
        };
      });
      return { results, total };
    });
  }

  figures(projectId: string, experimentIds: readonly string[], signal?: AbortSignal) {
    return this.#read(projectId, async (scope) => {
      if (experimentIds.length === 0) return new Map<string, ExperimentFigures>();
      const [rows, scores] = await Promise.all([
        this.#reader.rows<FigureRow>(figuresOf(scope, experimentIds), { signal }),
        this.#reader.rows<ScoreFigureRow>(scoreFiguresOf(scope, experimentIds), { signal }),
      ]);
      return new Map(
        rows.map((row) => [
          row.experiment,
          toFigures(
            row,
            scores.filter(({ experiment }) => experiment === row.experiment),
          ),
        ]),
      );
    });
  }

  async *measured(projectId: string, experimentId: string, scores: readonly string[], signal?: AbortSignal) {
    const next = (scope: ReadScope, after: ResultRow | null) =>
      this.#reader.rows<ResultRow>(resultsAfter(scope, experimentId, after, PORTION), { signal });
    for await (const { scope, rows } of this.#portions(projectId, next)) {
      const [taken, given] = await Promise.all([
        this.#taken(scope, experimentId, rows, signal),
        this.#scores(scope, rows, scores, MEASURED_TEXT, signal),
      ]);
      yield rows.map((row) => measured(row, taken, given));
    }
  }

  async *spansOf(projectId: string, experimentId: string, signal?: AbortSignal) {
    const next = (scope: ReadScope, after: SpanRow | null) =>
      this.#reader.rows<SpanRow>(spansAfter(scope, experimentId, after, PORTION), { signal });
    for await (const { rows } of this.#portions(projectId, next))
      yield rows.map(({ span, trace }) => ({ id: span, trace_id: trace }));
  }

  #read<T>(projectId: string, read: (scope: ReadScope) => Promise<T>): Promise<T> {
    return readState(this.#state, { list: 'traces', projectId }, read);
  }

  /** Rows behind each other, all of one state, which is held as long as they are read. */
  async *#portions<Row extends ResultPlace>(
    projectId: string,
    next: (scope: ReadScope, after: Row | null) => Promise<Row[]>,
  ): AsyncGenerator<{ readonly scope: ReadScope; readonly rows: readonly Row[] }> {
    const { reads, notCurrent } = this.#state;
    const held = await reads.openCommitted(projectId, { figures: true, traces: null });
    try {
      const aside = notCurrent(projectId).traces;
      const { upTo, traces } = held.state;
      const scope = { projectId, upTo, unsettled: traces.filter((id) => !aside.includes(id)), aside };
      let after: Row | null = null;
      for (;;) {
        const rows: readonly Row[] = await next(scope, after);
        if (rows.length > 0) yield { scope, rows };
        if (rows.length < PORTION) return;
        after = rows.at(-1) ?? null;
      }
    } finally {
      held.release();
    }
  }

  /** What results took, by their spans. */
  async #taken(
    scope: ReadScope,
    experiment: string,
    results: readonly ResultRow[],
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, Taken>> {
    if (results.length === 0) return new Map();
    const ids = [...new Set(results.map(({ made }) => made))];
    const [shared, traces] = await Promise.all([
      this.#reader.rows<{ id: string }>(sharedTraces(scope, experiment, ids), { signal }),
      this.#reader.rows<TraceRow>(tracesOf(scope, ids), { signal }),
    ]);
    const several = new Set(shared.map(({ id }) => id));
    const byId = new Map(traces.map((trace) => [trace.id, trace]));
    return new Map(results.map((row) => [row.version, takenBy(several.has(row.made) ? row : byId.get(row.made))]));
  }

  /** Scores by the spans that they are of. */
  async #scores(
    scope: ReadScope,
    results: readonly ResultRow[],
    names: readonly string[] | null,
    longest: number,
    signal: AbortSignal | undefined,
  ): Promise<ReadonlyMap<string, StoredResult['scores']>> {
    if (results.length === 0 || names?.length === 0) return new Map();
    const spans = [...new Set(results.map(({ span }) => span))];
    const rows = await this.#reader.rows<ScoreRow>(scoresOf(scope, spans, names, longest), { signal });
    const scores = new Map<string, Record<string, number | boolean | string>>();
    for (const row of rows) {
      const own = scores.get(row.span) ?? {};
      own[row.name] = row.kind === 'boolean' ? row.number === 1 : (row.number ?? row.text);
      scores.set(row.span, own);
    }
    return scores;
  }

  async #texts(scope: ReadScope, results: readonly ResultRow[], signal: AbortSignal | undefined) {
    const texts = new Map<string, TextRow>();
    for (let from = 0; from < results.length; from += TEXTS_AT_ONCE) {
      const rows = await this.#reader.rows<TextRow>(textsOf(scope, results.slice(from, from + TEXTS_AT_ONCE)), {
        signal,
      });
      for (const row of rows) texts.set(row.version, row);
    }
    return texts;
  }

  async #count(scope: ReadScope, query: ResultQuery, signal: AbortSignal | undefined): Promise<number> {
    const [row] = await this.#reader.rows<{ total: string }>(resultCount(scope, query), { signal });
    return Number(row?.total ?? 0);
  }
}

interface SpanRow extends ResultPlace {
  readonly span: string;
  readonly trace: string;
  readonly version: string;
}

const NOTHING: Taken = { cost: null, duration_ms: null, input_tokens: null, output_tokens: null };
const NO_SCORES = {};

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

function measured(
  row: ResultRow,
  taken: ReadonlyMap<string, Taken>,
  scores: ReadonlyMap<string, StoredResult['scores']>,
): MeasuredResult {
  return {
    id: row.span,
    row_id: row.row_id,
    repetition: row.repetition,
    has_error: row.has_error === 1,
    ...(taken.get(row.version) ?? NOTHING),
    scores: scores.get(row.span) ?? NO_SCORES,
  };
}

function toFigures(row: FigureRow, scores: readonly ScoreFigureRow[]): ExperimentFigures {
  return {
    results: Number(row.results),
    rows: Number(row.rows),
    errors: Number(row.errors),
    repetitions: row.repetitions,
    cost: numberOf(row.cost),
    input_tokens: numberOf(row.input),
    output_tokens: numberOf(row.output),
    duration_ms_p50: row.p50,
    duration_ms_p95: row.p95,
    first_at: versionTime(Number(row.first)),
    last_at: versionTime(Number(row.last)),
    scores: scores.map(({ name, kind, count, mean }) => ({
      name,
      kind: kind as ScoreFigures['kind'],
      count: Number(count),
      mean,
    })),
  };
}
