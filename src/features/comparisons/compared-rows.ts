import type { ExperimentResults, StoredResult } from '../../engine/traces/model/experiment/results.js';
import { invalid } from '../../engine/validation/validation.js';
import type { Window } from '../../engine/schema/page.js';
import type { Dataset, DatasetStore, RowReads } from '../datasets/dataset.js';
import { DomainError } from '../../engine/errors.js';
import type { PairedMetric } from './comparison.js';
import type { Comparison } from './comparison-store.js';
import { outcomeOf } from './differences.js';
import type { JudgedMetrics } from './judged-metrics.js';
import { readMetrics } from './metrics.js';
import { readRowPairs, type RowPairs } from './row-pairs.js';
import type { LEFT_OUT_REASONS, RowOutcome } from './row-schema.js';

export interface ComparedRowsParts {
  readonly results: Pick<ExperimentResults, 'measured' | 'page'>;
  readonly rows: Pick<RowReads, 'states' | 'statesOf' | 'contents'>;
  readonly datasets: Pick<DatasetStore, 'find'>;
  /** Definitions of scores, and verdicts of judges. */
  readonly judged: JudgedMetrics;
}

export interface RowQuery extends Window {
  readonly metric: string;
  readonly outcome: RowOutcome;
}

type LeftOutReason = (typeof LEFT_OUT_REASONS)[number];

/** A row by what became of it. */
interface Sorted {
  readonly id: string;
  readonly leftOut: LeftOutReason | null;
  /** By metric; null: none. */
  readonly candidate: number | string | null;
  readonly baseline: number | string | null;
}

export interface RowSide {
  readonly value: number | string | null;
  readonly result: StoredResult | null;
}

export interface ComparedRow {
  readonly row_id: string;
  readonly outcome: RowOutcome;
  readonly left_out: LeftOutReason | null;
  /** A JSON object by column, in the version of the candidate, or else of the baseline; null: erased. */
  readonly content: string | null;
  readonly candidate: RowSide;
  readonly baseline: RowSide;
}

export interface ComparedRowPage {
  readonly rows: readonly ComparedRow[];
  readonly total: number;
  /** What columns of the dataset are for. */
  readonly roles: Dataset['roles'];
}

/**
 * Rows of a comparison by what became of them, as the results are now.
 * @throws DomainError `invalid` where it has no such metric, `not_found` when the dataset is gone, `too_large`,
 *   `unavailable`; the signal's reason
 */
export async function comparedRows(
  parts: ComparedRowsParts,
  projectId: string,
  comparison: Comparison,
  { metric: name, outcome, limit, offset }: RowQuery,
  signal: AbortSignal,
): Promise<ComparedRowPage> {
  const { request, dataset, candidate, baseline } = comparison;
  const inputs = request.metrics.filter((input) => input.name === name);
  if (inputs.length === 0) throw invalid([{ pointer: '?metric', detail: 'must be a metric of the comparison' }]);
  const known = parts.datasets.find(projectId, { id: dataset.id });
  if (known === undefined) throw new DomainError('not_found', 'The dataset of the comparison was deleted');
  const { metrics } = readMetrics(inputs, (score) => parts.judged.find(projectId, score));
  const asked = { metrics, errors: request.errors, slices: [] };
  const pairOf = { datasetId: dataset.id, candidate, baseline };
  const results = parts.judged.resultsOf(projectId, { candidate, baseline }, [name]);
  const pairs = await readRowPairs({ ...parts, results }, projectId, pairOf, asked, signal);
  const [metric] = pairs.metrics;
  const all = metric === undefined ? [] : sorted(pairs, metric, outcome);
  const shown = all.slice(offset, offset + limit);
  const ids = shown.map(({ id }) => id);
  const of = (experimentId: string) => firstResults(parts.results, projectId, experimentId, ids, signal);
  const [first, second] = [await of(candidate.id), await of(baseline.id)];
  const contents = contentsOf(parts.rows, comparison, ids);
  const rows = shown.map((row) => ({
    row_id: row.id,
    outcome,
    left_out: row.leftOut,
    content: contents.get(row.id) ?? null,
    candidate: { value: row.candidate, result: first.get(row.id) ?? null },
    baseline: { value: row.baseline, result: second.get(row.id) ?? null },
  }));
  return { rows, total: all.length, roles: known.roles };
}

function sorted(pairs: RowPairs, metric: PairedMetric, outcome: RowOutcome): Sorted[] {
  const values = new Map(Array.from(metric.rows, (row, place) => [row, place]));
  const valueOf = (arm: Float64Array, row: number) => {
    const value = arm[values.get(row) ?? -1];
    return value === undefined ? null : metric.measure === 'category' ? (metric.categories[value] ?? null) : value;
  };
  const toRow = (row: number, leftOut: LeftOutReason | null = null): Sorted => ({
    id: pairs.ids[row] ?? '',
    leftOut,
    candidate: valueOf(metric.candidate, row),
    baseline: valueOf(metric.baseline, row),
  });
  const errors = new Set(pairs.errors);
  if (outcome === 'error') return pairs.errors.map((row) => toRow(row));
  if (outcome === 'left_out') {
    const without = [...pairs.ids.keys()].filter((row) => !values.has(row));
    const none = { candidate: null, baseline: null };
    const tooLarge = new Set(metric.tooLarge);
    const reasonOf = (row: number) => (tooLarge.has(row) ? 'too_large' : errors.has(row) ? 'error' : 'no_value');
    return [
      ...pairs.leftOut.map(({ id, reason }) => ({ id, leftOut: reason, ...none })),
      ...without.map((row) => toRow(row, reasonOf(row))),
    ];
  }
  return changedMost(metric, outcome).map((row) => toRow(row));
}

/** Rows that became better or worse, those that changed most first; or that stayed. */
function changedMost(metric: PairedMetric, outcome: RowOutcome): number[] {
  const { candidate, baseline, direction, rows, measure } = metric;
  const change = (place: number) => (candidate[place] ?? 0) - (baseline[place] ?? 0);
  const places = [...rows.keys()].filter((place) => {
    const became = outcomeOf(candidate[place] ?? 0, baseline[place] ?? 0, direction);
    // Categories are neither better nor worse: those that moved are shown as losses.
    const shown = measure === 'category' && became !== 'tie' ? 'loss' : became;
    return shown === outcome;
  });
  if (measure !== 'category') places.sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)) || a - b);
  return places.map((place) => rows[place] ?? 0);
}

/** The first result of each row. */
async function firstResults(
  results: Pick<ExperimentResults, 'page'>,
  projectId: string,
  experimentId: string,
  rowIds: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, StoredResult>> {
  if (rowIds.length === 0) return new Map();
  const window = { limit: rowIds.length, offset: 0, count: false };
  const query = { experimentId, repetition: null, rowIds, hasError: null, firstOnly: true, ...window } as const;
  const page = await results.page(projectId, query, signal);
  if (page.next !== null)
    throw new DomainError('too_large', 'The outputs of these rows are too large for one page: decrease limit');
  return new Map(page.results.map((result) => [result.row_id, result]));
}

/** What rows say in the version of the candidate, or else of the baseline, by id. */
function contentsOf(
  rows: Pick<RowReads, 'statesOf' | 'contents'>,
  { dataset, candidate, baseline }: Comparison,
  rowIds: readonly string[],
): ReadonlyMap<string, string> {
  const versions = { from: baseline.dataset_version, to: candidate.dataset_version };
  const said = new Map<string, string>();
  for (const { row_id, before, after } of rows.statesOf(dataset.id, versions, rowIds)) {
    const number = (after ?? before)?.content ?? null;
    const content = number === null ? undefined : rows.contents([number]).get(number);
    if (content !== undefined) said.set(row_id, content);
  }
  return said;
}
