import type { ExperimentResults, MeasuredResult } from '../../engine/traces/model/experiment/results.js';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';
import type { RowReads } from '../datasets/dataset.js';
import { MAX_RESULTS } from '../experiments/experiment.js';
import { NONE_LEFT_OUT, sumOf, type ErrorWay, type LeftOut, type LeftOutRows } from './comparison.js';
import type { PairedMetric, Slicing, Spent } from './comparison.js';
import { scoresAmong } from './metrics.js';
import { Arm, pair, type MeasuredMetric } from './pairing.js';
import { readSlicings, readVersionRows } from './version-rows.js';

/** Two experiments of one dataset. */
export interface ComparedPair {
  readonly datasetId: string;
  readonly candidate: { readonly id: string; readonly dataset_version: number };
  readonly baseline: { readonly id: string; readonly dataset_version: number };
}

export interface PairsAsked {
  readonly metrics: readonly MeasuredMetric[];
  readonly errors: ErrorWay;
  readonly slices: readonly string[];
}

/** The rows of two experiments, side by side. */
export interface RowPairs {
  /** Ids of the rows that both have results of, in the order of the metrics' rows. */
  readonly ids: readonly string[];
  readonly metrics: readonly PairedMetric[];
  readonly slicings: readonly Slicing[];
  /** Of `ids`, those with an error in either experiment. */
  readonly errors: readonly number[];
  readonly leftOut: readonly { readonly id: string; readonly reason: LeftOut }[];
  /** What the traces of all results cost. */
  readonly spent: Omit<Spent, 'judges'>;
}

export interface RowPairsParts {
  readonly results: Pick<ExperimentResults, 'measured'>;
  readonly rows: Pick<RowReads, 'states' | 'contents'>;
}

/**
 * Reads what two experiments measured, row by row. A row counts where both versions of the dataset say the same of it.
 * @throws DomainError `unavailable`, `too_large`, and the signal's reason
 */
export async function readRowPairs(
  { results, rows }: RowPairsParts,
  projectId: string,
  { datasetId, candidate, baseline }: ComparedPair,
  { metrics, errors, slices }: PairsAsked,
  signal: AbortSignal,
): Promise<RowPairs> {
  const versions = { from: baseline.dataset_version, to: candidate.dataset_version };
  const options = { errors, categories: metrics.map(() => new Map<string, number>()) };
  const ended = new AbortController();
  const untilEnded = AbortSignal.any([signal, ended.signal]);
  const reading = readVersionRows(rows, datasetId, versions, untilEnded).then((alike) => {
    requireRoom(alike.ids.length, metrics.length);
    return { alike, places: new Map(alike.ids.map((id, place) => [id, place])) };
  });
  // The engine has begun with the results while the rows are read.
  const armOf = ({ id }: { readonly id: string }) =>
    readArm(
      results.measured(projectId, id, scoresAmong(metrics), untilEnded),
      async () => new Arm((await reading).places, metrics, options),
    );
  // Categories are numbered as they come, the candidate's first: of both at once, by chance.
  const isInTurn = metrics.some(({ measure }) => measure === 'category');
  const first = armOf(candidate);
  const second = isInTurn ? first.then(() => armOf(baseline)) : armOf(baseline);
  const all = [reading, first, second] as const;
  const [{ alike }, of, against] = await Promise.all(all).catch(async (error: unknown) => {
    ended.abort();
    await Promise.allSettled(all);
    throw error;
  });
  const arms = { candidate: of.arm, baseline: against.arm };
  const { paired, missing } = placesOf(alike.ids, arms);
  const contents = Array.from(paired, (place) => alike.contents[place] ?? 0);
  return {
    ids: Array.from(paired, (place) => alike.ids[place] ?? ''),
    metrics: await inTurns(pair(paired, metrics, arms, options), signal),
    slicings: await readSlicings(rows, contents, slices, signal),
    errors: [...paired.keys()].filter((row) => hasError(arms, paired[row] ?? 0)),
    leftOut: [...alike.leftOut, ...missing],
    spent: { candidate: of.spent, baseline: against.spent },
  };
}

/** Reads all results of an experiment, and what they cost. @throws DomainError `too_large` */
async function readArm(results: AsyncIterable<readonly MeasuredResult[]>, open: () => Promise<Arm>) {
  let arm: Arm | undefined;
  let read = 0;
  let spent: number | null = null;
  for await (const portion of results) {
    read += portion.length;
    if (read > MAX_RESULTS)
      throw new DomainError('too_large', `An experiment of more than ${MAX_RESULTS} results cannot be compared`);
    arm ??= await open();
    arm.add(portion);
    for (const { cost } of portion) spent = sumOf(spent, cost);
  }
  arm ??= await open();
  arm.end();
  return { arm, spent };
}

/** Of 100,000 rows, a metric takes some milliseconds: others have their turn between. */
async function inTurns<T>(items: Iterable<T>, signal: AbortSignal): Promise<T[]> {
  const done: T[] = [];
  for (const item of items) {
    done.push(item);
    await nextTurn();
    signal.throwIfAborted();
  }
  return done;
}

/** Most values of one arm: rows times metrics. */
const MAX_VALUES = 2_000_000;

function requireRoom(rows: number, metrics: number): void {
  if (rows * metrics > MAX_VALUES)
    throw new DomainError(
      'too_large',
      `${metrics} metrics of ${rows} rows are more than the ${MAX_VALUES} values that one comparison may have: ask for fewer metrics`,
    );
}

interface Arms {
  readonly candidate: Arm;
  readonly baseline: Arm;
}

const hasError = ({ candidate, baseline }: Arms, place: number) =>
  candidate.hasError(place) || baseline.hasError(place);

/** Which rows both arms have, and why the others are left out. */
function placesOf(ids: readonly string[], { candidate, baseline }: Arms) {
  const paired: number[] = [];
  const missing: { id: string; reason: LeftOut }[] = [];
  for (const [place, id] of ids.entries()) {
    const [first, second] = [candidate.has(place), baseline.has(place)];
    if (first && second) paired.push(place);
    else if (first) missing.push({ id, reason: 'missing_in_baseline' });
    else missing.push({ id, reason: second ? 'missing_in_candidate' : 'missing_in_both' });
  }
  return { paired: Int32Array.from(paired), missing };
}

/** How many rows are left out, by why. */
export function countLeftOut(leftOut: RowPairs['leftOut']): LeftOutRows {
  const counts = { ...NONE_LEFT_OUT };
  for (const { reason } of leftOut) counts[reason] += 1;
  return counts;
}
