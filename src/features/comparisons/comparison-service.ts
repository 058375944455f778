import { randomUUID } from 'node:crypto';
import { DomainError } from '../../engine/errors.js';
import type { Announce } from '../webhooks/event.js';
import type { Principal } from '../../engine/identity/identity.js';
import type { Window } from '../../engine/schema/page.js';
import { invalid } from '../../engine/validation/validation.js';
import { FairSemaphore } from '../../engine/work/fair-semaphore.js';
import type { DeletionScope, WorkUnderWay } from '../../engine/work/work-under-way.js';
import type { Experiment } from '../experiments/experiment.js';
import { comparedRows, type ComparedRowPage, type ComparedRowsParts, type RowQuery } from './compared-rows.js';
import type { ComparedExperiments, ExperimentLookup } from './compared-experiments.js';
import type { PairedRows } from './comparison.js';
import type { Comparison, ComparisonFilter, ComparisonStore, ListedComparison, Request } from './comparison-store.js';
import { MAX_FOUND, MAX_REQUEST, type ComparedArm } from './comparison-store.js';
import { readMetrics } from './metrics.js';
import { isRepeat, noiseOf } from './noise.js';
import { incomparable, type Compared, type Outcome } from './outcome.js';
import type { MeasuredMetric } from './pairing.js';
import { countLeftOut, readRowPairs } from './row-pairs.js';
import type { ComparisonInput } from './input-schema.js';

/** Comparisons at once: what they hold in memory is bounded for each. */
const TURNS = { atOnce: 2, perParty: 1, maxWaiting: 32, maxWaitMs: 60_000 };
const CONFIDENCE = 0.95;

export interface ComparisonServiceParts extends ComparedRowsParts {
  readonly comparisons: ComparisonStore;
  readonly experiments: ExperimentLookup;
  /** Computes figures and verdicts elsewhere than in the thread that serves requests. @throws DomainError, and the signal's reason */
  readonly compute: (projectId: string, paired: PairedRows, signal: AbortSignal) => Promise<Outcome>;
  /** Stores all that is stored meanwhile, or nothing of it. */
  readonly together: <T>(store: () => T) => T;
  readonly announce: Announce;
}

/** A comparison that is being made, or whose rows are being read. */
interface UnderWay {
  readonly projectId: string;
  readonly gone: AbortController;
  readonly ended: Promise<unknown>;
}

/** Comparisons of experiments: made once, and kept with what they found. Everything is inside the caller's project. */
export class ComparisonService implements WorkUnderWay {
  readonly #parts: ComparisonServiceParts;
  readonly #turns = new FairSemaphore('comparisons', TURNS);
  readonly #underWay = new Set<UnderWay>();

  constructor(parts: ComparisonServiceParts) {
    this.#parts = parts;
  }

  /**
   * Compares two experiments, once both are finished, and keeps what was found.
   * @throws DomainError `invalid`, `not_found`; `conflict` when one is still running; `overloaded`, `unavailable`; the signal's reason
   */
  compare(by: Principal, input: ComparisonInput, signal: AbortSignal): Promise<Comparison> {
    return this.#while(by.project_id, signal, (both) => this.#compare(by, input, both));
  }

  /** Ends all of a project that is deleted. Where spans are, a comparison is refused at its end. */
  async giveUp({ projectId, spans }: DeletionScope): Promise<void> {
    if (spans !== null) return;
    const own = [...this.#underWay].filter((one) => one.projectId === projectId);
    for (const { gone } of own) gone.abort();
    await Promise.allSettled(own.map(({ ended }) => ended));
  }

  /** Does work until its project is deleted. @throws DomainError `not_found` then */
  async #while<T>(projectId: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const gone = new AbortController();
    const ended = work(AbortSignal.any([signal, gone.signal]));
    const one: UnderWay = { projectId, gone, ended };
    this.#underWay.add(one);
    try {
      return await ended;
    } catch (error) {
      if (!gone.signal.aborted) throw error;
      throw new DomainError('not_found', 'The project was deleted meanwhile', { cause: error });
    } finally {
      this.#underWay.delete(one);
    }
  }

  async #compare(
    { project_id: projectId, user_id }: Principal,
    input: ComparisonInput,
    signal: AbortSignal,
  ): Promise<Comparison> {
    const { experiments } = this.#parts;
    const until = Date.now() + (input.wait_seconds ?? 0) * 1_000;
    this.#metrics(projectId, input);
    const asked = experiments.find(projectId, input);
    const compared = await experiments.finished(projectId, asked, input.wait_seconds ?? 0, signal);
    const names = input.metrics.map(({ name }) => name);
    await this.#parts.judged.settled(projectId, compared, names, until, signal);
    const metrics = this.#metrics(projectId, input);
    // What is erased from now on takes the comparison with it, also while it is being made.
    const created_at = Date.now() * 1000;
    const request: Request = {
      metrics: input.metrics,
      confidence: input.confidence ?? CONFIDENCE,
      slices: input.slices ?? [],
      errors: input.errors ?? 'count_as_fail',
      tags: tagsOf(input),
    };
    const { candidate, baseline } = compared;
    const is_repeat = isRepeat(candidate, baseline);
    const found = await this.#found(projectId, compared, { ...request, metrics, is_repeat }, signal);
    const comparison: Comparison = {
      id: randomUUID(),
      dataset: { id: candidate.dataset.id, name: candidate.dataset.name },
      candidate: armOf(candidate, request.tags?.candidate),
      baseline: armOf(baseline, request.tags?.baseline),
      verdict: found.verdict,
      created_at,
      created_by: user_id,
      is_repeat,
      request,
      found,
    };
    requireSize(comparison);
    if (!this.#add(projectId, comparison))
      throw new DomainError(
        'conflict',
        'An experiment or rows of its dataset were deleted while it was compared. Retry.',
      );
    return comparison;
  }

  /** @returns false, and nothing is stored, when what is compared was deleted meanwhile */
  #add(projectId: string, comparison: Comparison): boolean {
    const { comparisons, together, announce } = this.#parts;
    const { id, verdict, candidate, baseline, dataset } = comparison;
    return together(() => {
      if (!comparisons.add(projectId, comparison)) return false;
      if (verdict === 'failed')
        announce({
          ...{ project_id: projectId, type: 'comparison.failed' },
          summary: `The experiment ${candidate.name} failed the comparison with ${baseline.name}`,
          data: { comparison_id: id, dataset_id: dataset.id, candidate_id: candidate.id, baseline_id: baseline.id },
        });
      return true;
    });
  }

  /** @throws DomainError `not_found` */
  get(projectId: string, id: string): Comparison {
    const found = this.#parts.comparisons.find(projectId, id);
    if (found === undefined) throw new DomainError('not_found', 'There is no comparison with this id');
    return found;
  }

  list(
    projectId: string,
    filter: ComparisonFilter,
    window: Window,
  ): { readonly comparisons: ListedComparison[]; readonly total: number } {
    const { comparisons } = this.#parts;
    return { comparisons: comparisons.list(projectId, filter, window), total: comparisons.count(projectId, filter) };
  }

  /** @throws DomainError `not_found` */
  remove(projectId: string, id: string): void {
    if (!this.#parts.comparisons.remove(projectId, this.get(projectId, id).id))
      throw new DomainError('not_found', 'There is no comparison with this id');
  }

  /** Rows of a comparison by what became of them. @throws DomainError as {@link comparedRows} */
  async rows(projectId: string, id: string, query: RowQuery, signal: AbortSignal): Promise<ComparedRowPage> {
    const comparison = this.get(projectId, id);
    const read = (both: AbortSignal) => comparedRows(this.#parts, projectId, comparison, query, both);
    return this.#while(projectId, signal, (both) => this.#turns.run(projectId, () => read(both), both));
  }

  /** @throws DomainError `invalid` */
  #metrics(projectId: string, { metrics: inputs }: ComparisonInput): readonly MeasuredMetric[] {
    const { judged } = this.#parts;
    const { metrics, issues } = readMetrics(inputs, (name) => judged.find(projectId, name));
    if (issues.length > 0) throw invalid(issues);
    return metrics;
  }

  async #found(
    projectId: string,
    { candidate, baseline }: ComparedExperiments,
    asked: Omit<Request, 'metrics'> & { readonly metrics: readonly MeasuredMetric[]; readonly is_repeat: boolean },
    signal: AbortSignal,
  ): Promise<Compared> {
    const names = asked.metrics.map(({ name }) => name);
    const { judged } = this.#parts;
    const reason =
      reasonAgainst(candidate, baseline) ?? judged.reasonAgainst(projectId, { candidate, baseline }, names);
    if (reason !== null) return incomparable(reason);
    const end = await this.#turns.take(projectId, signal);
    try {
      const pairOf = { datasetId: candidate.dataset.id, candidate, baseline };
      const results = judged.resultsOf(projectId, { candidate, baseline }, names);
      const pairs = await readRowPairs({ ...this.#parts, results }, projectId, pairOf, asked, signal);
      const left_out = countLeftOut(pairs.leftOut);
      if (pairs.ids.length === 0)
        return incomparable('No row with the same content has results in both experiments.', left_out);
      const { metrics, slicings } = pairs;
      const seed = `${candidate.id}/${baseline.id}`;
      const { confidence } = asked;
      const outcome = await this.#parts.compute(projectId, { seed, confidence, metrics, slicings }, signal);
      const judge = (name: string) => judged.judgeOf(projectId, { candidate, baseline }, name);
      const withJudges = outcome.metrics.map((metric) => ({ ...metric, judge: judge(metric.name) }));
      const repeat = asked.is_repeat ? undefined : this.#parts.comparisons.lastRepeat(projectId, candidate.dataset.id);
      const known = withJudges.map((metric) => ({ ...metric, noise: noiseOf(metric, repeat) }));
      const judges = await judged.spent(projectId, { candidate, baseline }, names, signal);
      const spent = { ...pairs.spent, judges };
      return { ...outcome, metrics: known, rows: pairs.ids.length, left_out, spent };
    } finally {
      end();
    }
  }
}

/** @throws DomainError `too_large` */
function requireSize({ request, found }: Comparison): void {
  const isLarge = (value: unknown, most: number) => Buffer.byteLength(JSON.stringify(value)) > most;
  if (isLarge(request, MAX_REQUEST) || isLarge(found, MAX_FOUND))
    throw new DomainError(
      'too_large',
      `The figures of the comparison have more than ${MAX_FOUND / 1024 / 1024} MiB: ask for fewer metrics or slices`,
    );
}

function armOf({ id, name, dataset_version }: Experiment, tag: string | undefined): ComparedArm {
  return { id, name, dataset_version, tag: tag ?? null };
}

/** The tags that experiments are asked for by. */
function tagsOf({ candidate, baseline }: ComparisonInput): NonNullable<Request['tags']> {
  const given = Object.entries({ candidate, baseline }).flatMap(([side, asked]) =>
    typeof asked === 'string' ? [] : [[side, asked.tag] as const],
  );
  return Object.fromEntries(given);
}

/** Why two experiments cannot be compared at all; null: they can. */
function reasonAgainst(candidate: Experiment, baseline: Experiment): string | null {
  const [first, second] = [candidate.dataset, baseline.dataset];
  if (first.id !== second.id)
    return `The candidate ran on the dataset ${JSON.stringify(first.name)}, the baseline on ${JSON.stringify(second.name)}: only experiments of one dataset have rows in common.`;
  if (first.gone) return `The dataset ${JSON.stringify(first.name)} was deleted, and its rows with it.`;
  for (const [what, { status }] of Object.entries({ candidate, baseline }))
    if (status !== 'finished') return `The ${what} is ${status}: what it lacks would look like a difference.`;
  return null;
}
