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
  readonly #readings: readonly Reading[];
  readonly #columns: readonly Column[];
  readonly #results: Uint16Array;
  readonly #errors: Uint16Array;
  #row: MeasuredResult[] = [];

  /** @param places of the rows that count @param categories are shared by both arms, and grow */
  constructor(
    places: ReadonlyMap<string, number>,
    metrics: readonly MeasuredMetric[],
    { errors, categories }: { readonly errors: ErrorWay; readonly categories: readonly Map<string, number>[] },
  ) {
    this.#places = places;
    this.#readings = metrics.map((metric, index) => readingOf(metric, errors, categories[index]));
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
    for (let index = 0; index < this.#readings.length; index += 1) {
      const [reading, column] = [this.#readings[index], this.#columns[index]];
      if (reading !== undefined && column !== undefined)
        take(column, place, reading, reading.ofErrors ? results : sound);
    }
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

/** How the values of a metric are read of results. */
interface Reading {
  /** NaN: it has none. */
  readonly valueOf: (result: MeasuredResult) => number;
  /** Whether results with an error have values that count. */
  readonly ofErrors: boolean;
  readonly isCategory: boolean;
}

function readingOf(metric: MeasuredMetric, errors: ErrorWay, categories: Map<string, number> | undefined): Reading {
  const { name, measure } = metric;
  const isCategory = measure === 'category';
  const ofErrors = name === ERROR || (isFigure(metric) && errors === 'count_as_fail');
  if (name === ERROR && measure === 'boolean')
    return { valueOf: ({ has_error }) => Number(has_error), ofErrors, isCategory };
  if (isFigure(metric)) return { valueOf: (result) => result[metric.name] ?? NaN, ofErrors, isCategory };
  const valueOf = ({ scores }: MeasuredResult) => {
    const value = scores[name];
    if (isCategory) return typeof value === 'string' && categories !== undefined ? placeIn(categories, value) : NaN;
    return typeof value === 'number' || typeof value === 'boolean' ? Number(value) : NaN;
  };
  return { valueOf, ofErrors, isCategory };
}

/** Takes the values of a row into a column. */
function take(
  column: Column,
  place: number,
  { valueOf, isCategory }: Reading,
  results: readonly MeasuredResult[],
): void {
  let [count, sum, anyTooLarge] = [0, 0, false];
  const categories: number[] = [];
  for (const result of results) {
    const value = valueOf(result);
    if (Number.isNaN(value)) continue;
    count += 1;
    sum += value;
    if (isCategory) categories.push(value);
    if (isTooLarge(value)) {
      anyTooLarge = true;
      continue;
    }
    if (value < column.lowest) column.lowest = value;
    if (value > column.highest) column.highest = value;
  }
  if (count === 0) return;
  column.counts[place] = count;
  column.means[place] = anyTooLarge ? Infinity : isCategory ? mostFrequent(categories) : sum / count;
}

/** Pairs the rows that both arms have. @param rows their places @returns of each metric the rows that have it in both, one by one, as each takes its time */
export function* pair(
  rows: Int32Array,
  metrics: readonly MeasuredMetric[],
  arms: { readonly candidate: Arm; readonly baseline: Arm },
  { errors, categories }: { readonly errors: ErrorWay; readonly categories: readonly Map<string, number>[] },
): Generator<PairedMetric> {
  const { candidate, baseline } = arms;
  for (const [index, metric] of metrics.entries()) {
    const worst = errors === 'count_as_fail' ? worstOf(metric, candidate.range(index), baseline.range(index)) : null;
    const leftOut = { no_value: 0, error: 0 };
    const [first, second] = [new Float64Array(rows.length), new Float64Array(rows.length)];
    const kept = new Int32Array(rows.length);
    const tooLarge: number[] = [];
    let count = 0;
    let most = 0;
    for (let row = 0; row < rows.length; row += 1) {
      const place = rows[row] ?? 0;
      const [one, other] = [candidate.value(index, place, worst), baseline.value(index, place, worst)];
      if (Number.isNaN(one) || Number.isNaN(other)) {
        const byError = metric.name !== ERROR && (candidate.hasError(place) || baseline.hasError(place));
        leftOut[byError ? 'error' : 'no_value'] += 1;
        continue;
      }
      if (isTooLarge(one) || isTooLarge(other)) {
        tooLarge.push(row);
        continue;
      }
      first[count] = one;
      second[count] = other;
      kept[count] = row;
      count += 1;
      most = Math.max(most, candidate.count(index, place, worst), baseline.count(index, place, worst));
    }
    yield {
      ...metricOf(metric),
      ...{ candidate: first.slice(0, count), baseline: second.slice(0, count), rows: kept.slice(0, count) },
      single: most <= 1,
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

/** The first of those that are most frequent. */
function mostFrequent(values: readonly number[]): number {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].reduce((most, next) => (next[1] > most[1] ? next : most))[0];
}
