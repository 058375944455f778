import type { Micros } from '../../../timestamp.js';

/**
 * Which result of an experiment a span is, as its attributes say. One with `row_id` null is of the experiment, but no result:
 * such as a step of the program that is tried.
 */
export interface ExperimentMark {
  /** Lower-case UUID. */
  readonly experiment_id: string;
  readonly row_id: string | null;
  /** From 1. */
  readonly repetition: number;
  /** The trace in which the result was made, where the span itself is not of it. */
  readonly made_in: string | null;
}

/** The result of a row of a dataset, in one repetition: the newest span that says so. */
export interface StoredResult {
  /** Of its span. */
  readonly id: string;
  /** Of the trace in which it was made; that of its span, if nothing else was stated. */
  readonly trace_id: string;
  readonly row_id: string;
  readonly repetition: number;
  readonly output_data: string;
  readonly has_error: boolean;
  readonly error_message: string | null;
  readonly created_at: Micros;
  /** US dollars, milliseconds, tokens: of that trace; null: unknown, or several results were made in it. */
  readonly cost: number | null;
  readonly duration_ms: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  /** The newest score of each name: of its span, and of that trace. */
  readonly scores: Readonly<Record<string, number | boolean | string>>;
}

/** A checked request for a page of results, by row and repetition. */
export interface ResultQuery {
  readonly experimentId: string;
  readonly repetition: number | null;
  readonly rowIds: readonly string[] | null;
  readonly hasError: boolean | null;
  /** Whether only the first result of each row is meant. */
  readonly firstOnly?: true;
  /** Whether only ids, rows and times are meant: texts, scores and what traces took stay empty. */
  readonly idsOnly?: true;
  readonly limit: number;
  readonly offset: number;
  readonly count: boolean;
}

/** A page of results: it has fewer than its limit where their texts are more than a server may hold. */
export interface ResultsRead {
  readonly results: readonly StoredResult[];
  /** How many there are on all pages; null: that was not asked. */
  readonly total: number | null;
  /** The offset of the next page; null: this is the last one. */
  readonly next: number | null;
}

/** Figures of one score's values. */
export interface ScoreFigures {
  readonly name: string;
  readonly kind: 'numeric' | 'boolean' | 'categorical' | 'text';
  readonly count: number;
  /** Of numbers; of booleans, the share that is true. */
  readonly mean: number | null;
}

/** Figures of all results of an experiment. */
export interface ExperimentFigures {
  readonly results: number;
  readonly rows: number;
  readonly errors: number;
  readonly repetitions: number;
  /** Sums of what is known; null: of none. */
  readonly cost: number | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly duration_ms_p50: number | null;
  readonly duration_ms_p95: number | null;
  readonly first_at: Micros | null;
  readonly last_at: Micros | null;
  readonly scores: readonly ScoreFigures[];
}

/** Where the span of a result is, and whether there is anything to judge. */
export interface ResultOutline {
  readonly id: string;
  /** Of the trace that the span is in. */
  readonly span_trace_id: string;
  /** Of the trace that it shows: the one that it only names, where it has no output of its own. */
  readonly shown_trace_id: string;
  readonly started_at: Micros;
  readonly row_id: string;
  readonly repetition: number;
  readonly has_error: boolean;
  readonly has_output: boolean;
}

/** What a comparison reads of one result. */
export type MeasuredResult = Pick<
  StoredResult,
  'id' | 'row_id' | 'repetition' | 'has_error' | 'cost' | 'duration_ms' | 'input_tokens' | 'output_tokens' | 'scores'
>;

/**
 * The results of experiments, which are spans. Each read sees every write acknowledged before the call.
 * @throws DomainError `unavailable` when a limit is met or the store does not answer
 */
export interface ExperimentResults {
  page(projectId: string, query: ResultQuery, signal?: AbortSignal): Promise<ResultsRead>;
  /** Sum of what is known of the costs of some traces, in US dollars; null: nothing is. */
  costOf(projectId: string, traceIds: readonly string[], signal?: AbortSignal): Promise<number | null>;
  /** Of each experiment that has results; in one read. */
  figures(
    projectId: string,
    experimentIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, ExperimentFigures>>;
  /** All results by row and repetition, in portions. @param scores names of the only scores that are wanted */
  measured(
    projectId: string,
    experimentId: string,
    scores: readonly string[],
    signal?: AbortSignal,
  ): AsyncIterable<readonly MeasuredResult[]>;
  /** Which results there are of some rows, as {@link present} says it. */
  presentOf(
    projectId: string,
    experimentId: string,
    rowIds: readonly string[],
    signal?: AbortSignal,
  ): Promise<readonly { readonly row: string; readonly repetitions: number }[]>;
  /** Which results there are, in portions: of each row its repetitions, as bits from the lowest on. */
  present(
    projectId: string,
    experimentId: string,
    signal?: AbortSignal,
  ): AsyncIterable<readonly { readonly row: string; readonly repetitions: number }[]>;
  /** The spans of all results that count, by row and repetition, in portions. */
  outlines(projectId: string, experimentId: string, signal?: AbortSignal): AsyncIterable<readonly ResultOutline[]>;
  /** Ids of the results that count, in portions: much less to read than {@link outlines}. */
  ids(projectId: string, experimentId: string, signal?: AbortSignal): AsyncIterable<readonly string[]>;
  /** Ids of all result spans with their traces, for deletion: in portions. */
  spansOf(
    projectId: string,
    experimentId: string,
    signal?: AbortSignal,
  ): AsyncIterable<readonly { readonly id: string; readonly trace_id: string }[]>;
}
