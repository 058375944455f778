import type { MeasuredResult } from '../../engine/traces/model/experiment/results.js';
import { DomainError } from '../../engine/errors.js';
import { ERROR, FIGURES, metricOf, OTHERS } from './comparison.js';
import type { ErrorWay, Figure, Metric, PairedMetric } from './comparison.js';

/** A metric, and the values that its definition allows; null: any. */
export interface MeasuredMetric extends Metric {
  readonly min: number | null;
  readonly max: number | null;
}

/** What one arm has of one metric, by row of the comparison. */
interface Column {
  /** Mean of the values without errors; NaN: none; Infinity: one is too large to be reckoned with. */
  readonly means: Float64Array;
  readonly counts: Uint16Array;
  lowest: number;
  highest: number;
}

/** Most results of a row: its repetitions, some of them again. They are held together. */
const MAX_RESULTS_OF_ROW = 10_000;

/** The results of one experiment, by row: repetitions of a row are no rows of their own, so they become one value. */
export class Arm {
  readonly #places: ReadonlyMap<string, number>;
  readonly #metrics: readonly MeasuredMetric[];
  readonly #columns: readonly Column[];
  /** Of categorical metrics. */
  readonly #categories: readonly Map<string, number>[];
  readonly #results: Uint16Array;
  readonly #errors: Uint16Array;
  readonly #errorWay: ErrorWay;
  #row: MeasuredResult[] = [];

  /** @param places of the rows that count @param categories are shared by both arms, and grow */
  constructor(
    places: ReadonlyMap<string, number>,
    metrics: readonly MeasuredMetric[],
    { errors, categories }: { readonly errors: ErrorWay; readonly categories: readonly Map<string, number>[] },
  ) {
    this.#places = places;
    this.#metrics = metrics;
    this.#errorWay = errors;
    this.#categories = categories;
    this.#results = new Uint16Array(places.size);
    this.#errors = new Uint16Array(places.size);
    this.#columns = metrics.map(() => ({
      means: new Float64Array(places.size).fill(NaN),
      counts: new Uint16Array(places.size),
      lowest: Infinity,
      highest: -Infinity,
    }));
  }

  /** Takes results, all of a row one after the other. @throws DomainError `too_large` */
  add(results: readonly MeasuredResult[]): void {
    for (const result of results) {
      if (this.#row[0] !== undefined && this.#row[0].row_id !== result.row_id) this.end();
      // Spans may say that they are results of any row, and of one as often as they like.
      if (!this.#places.has(result.row_id)) continue;
      if (this.#row.length >= MAX_RESULTS_OF_ROW)
        throw new DomainError('too_large', `A row with more than ${MAX_RESULTS_OF_ROW} results cannot be compared`);
      this.#row.push(result);
    }
  }

  /** Says that no more results come. */
  end(): void {
    const results = this.#row;
    this.#row = [];
    const place = results[0] === undefined ? undefined : this.#places.get(results[0].row_id);
    if (place === undefined) return;
    const errors = results.reduce((count, { has_error }) => count + Number(has_error), 0);
    const sound = errors === 0 ? results : results.filter(({ has_error }) => !has_error);
    this.#results[place] = results.length;
    this.#errors[place] = errors;
    for (const [index, metric] of this.#metrics.entries()) {
      const hasAll = metric.name === ERROR || (isFigure(metric) && this.#errorWay === 'count_as_fail');
      this.#take(index, place, hasAll ? results : sound);
    }
  }

  #take(index: number, place: number, results: readonly MeasuredResult[]): void {
    const column = this.#columns[index];
    const metric = this.#metrics[index];
    if (column === undefined || metric === undefined) return;
    const categories = metric.measure === 'category' ? this.#categories[index] : undefined;
    const values: number[] = [];
    for (const result of results) {
      const value = valueOf(result, metric, categories);
      if (Number.isNaN(value)) continue;
      values.push(value);
      if (isTooLarge(value)) continue;
      if (value < column.lowest) column.lowest = value;
      if (value > column.highest) column.highest = value;
    }
    if (values.length === 0) return;
    column.counts[place] = values.length;
    if (values.some(isTooLarge)) column.means[place] = Infinity;
    else column.means[place] = categories === undefined ? averageOf(values) : mostFrequent(values);
  }

  has(place: number): boolean {
    return (this.#results[place] ?? 0) > 0;
  }

  hasError(place: number): boolean {
    return (this.#errors[place] ?? 0) > 0;
  }

  range(index: number): { readonly lowest: number; readonly highest: number } {
    return this.#columns[index] ?? { lowest: Infinity, highest: -Infinity };
  }

  /** The value of a row, in which each error counts as the worst. @returns NaN: none */
  value(index: number, place: number, worst: number | null): number {
    const column = this.#columns[index];
    const mean = column?.means[place] ?? NaN;
    const errors = this.#errors[place] ?? 0;
    if (worst === null || errors === 0 || mean === Infinity) return mean;
    const count = column?.counts[place] ?? 0;
    return ((count === 0 ? 0 : mean * count) + worst * errors) / (count + errors);
  }

  /** How many values a row's value is made of. */
  count(index: number, place: number, worst: number | null): number {
    return (this.#columns[index]?.counts[place] ?? 0) + (worst === null ? 0 : (this.#errors[place] ?? 0));
  }
}

/** Pairs the rows that both arms have. @param rows their places @returns of each metric the rows that have it in both, one by one, as each takes its time */
export function* pair(
  rows: Int32Array,
  metrics: readonly MeasuredMetric[],
  arms: { readonly candidate: Arm; readonly baseline: Arm },
  { errors, categories }: { readonly errors: ErrorWay; readonly categories: readonly Map<string, number>[] },
): Generator<PairedMetric> {
  for (const [index, metric] of metrics.entries()) {
    const { candidate, baseline } = arms;
    const worst = errors === 'count_as_fail' ? worstOf(metric, candidate.range(index), baseline.range(index)) : null;
    const kept: number[] = [];
    const leftOut = { no_value: 0, error: 0 };
    let most = 0;
    const tooLarge: number[] = [];
    for (const [row, place] of rows.entries()) {
      const values = [candidate.value(index, place, worst), baseline.value(index, place, worst)];
      if (values.some(Number.isNaN)) {
        const byError = metric.name !== ERROR && (candidate.hasError(place) || baseline.hasError(place));
        leftOut[byError ? 'error' : 'no_value'] += 1;
        continue;
      }
      if (values.some(isTooLarge)) {
        tooLarge.push(row);
        continue;
      }
      kept.push(row);
      most = Math.max(most, candidate.count(index, place, worst), baseline.count(index, place, worst));
    }
    const of = (arm: Arm) => Float64Array.from(kept, (row) => arm.value(index, rows[row] ?? 0, worst));
    yield {
      ...metricOf(metric),
      ...{ candidate: of(candidate), baseline: of(baseline), rows: Int32Array.from(kept), single: most <= 1 },
      categories: [...(categories[index]?.keys() ?? [])],
      left_out: tooLarge.length === 0 ? leftOut : { ...leftOut, too_large: tooLarge.length },
      tooLarge: Int32Array.from(tooLarge),
    };
  }
}

/** What an error counts as: the worst that is allowed, or else was seen; null: it is no score, or none has a value. */
function worstOf(
  { measure, direction, min, max, name }: MeasuredMetric,
  ...seen: { readonly lowest: number; readonly highest: number }[]
): number | null {
  if (name === ERROR || (measure !== 'boolean' && measure !== 'number')) return null;
  const higher = direction === 'higher';
  if (measure === 'boolean') return higher ? 0 : 1;
  const allowed = higher ? min : max;
  if (allowed !== null) return allowed;
  const worst = higher
    ? Math.min(...seen.map(({ lowest }) => lowest))
    : Math.max(...seen.map(({ highest }) => highest));
  return Number.isFinite(worst) ? worst : null;
}

function valueOf(result: MeasuredResult, metric: Metric, categories: Map<string, number> | undefined): number {
  if (metric.name === ERROR && metric.measure === 'boolean') return Number(result.has_error);
  if (isFigure(metric)) return result[metric.name] ?? NaN;
  const value = result.scores[metric.name];
  if (categories !== undefined) return typeof value === 'string' ? placeIn(categories, value) : NaN;
  return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : NaN;
}

/** Squares and sums of larger numbers have no end. Rows with one are left out, and a gate does not pass without them. */
const LARGEST = 1e100;

const isTooLarge = (value: number) => Math.abs(value) > LARGEST;

/** Most categories that are told apart; any further ones are one. */
const MAX_CATEGORIES = 1_000;

function placeIn(categories: Map<string, number>, category: string): number {
  const named = categories.has(category) || categories.size < MAX_CATEGORIES ? category : OTHERS;
  const place = categories.get(named) ?? categories.size;
  categories.set(named, place);
  return place;
}

function isFigure(metric: Metric): metric is Metric & { readonly name: Figure } {
  return metric.measure === 'sum' && FIGURES.some((name) => name === metric.name);
}

const averageOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The first of those that are most frequent. */
function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((most, next) => (next[1] > most[1] ? next : most))[0];
}
