import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JudgedResult, Opinion } from '../learning/calibration/correction.js';
import { truthOf } from '../learning/calibration/opinion.js';
import { kappaOf, verdictsOf } from '../learning/calibration/report.js';
import { wilson, type Interval } from '../learning/calibration/statistics.js';
import type { Window } from '../schema/page.js';
import type { Micros } from '../time/timestamp.js';

/** When evaluations were stored, both ends inclusive; null: no bound. */
export interface StoredBetween {
  readonly start: Micros | null;
  readonly end: Micros | null;
}

/** A judge, and what it is about to look at. */
export interface JudgeQueue {
  readonly judge_id: string;
  readonly judge_name: string;
  /** Runs that wait or are under way, and those that failed for good; at whatever time. */
  readonly queued: number;
  readonly failed: number;
}

export interface JudgeFigures extends JudgeQueue {
  readonly evaluations: number;
  readonly passed: number;
  /** Share of the evaluations that passed; null without any. */
  readonly rate: number | null;
  readonly rate_interval: Interval | null;
}

/** The figures of a judge, and how far people agree with it. */
export interface ListedFigures extends Omit<JudgeFigures, 'judge_id' | 'judge_name'> {
  readonly kappa: number | null;
  readonly kappa_interval: Interval | null;
}

/** Corrections of a judge that say the same of the same result. */
export interface SameCorrections extends Opinion, Pick<JudgedResult, 'evaluation_result' | 'pass_threshold'> {
  readonly judge_id: string;
  readonly times: number;
}

/** Where an evaluation stands among those of its judge, in the order of storing. */
export interface EvaluationPlace {
  readonly created_at: Micros;
  readonly seq: number;
}

/** Some of a judge's evaluations, counted. */
export interface CountedPortion {
  readonly evaluations: number;
  readonly passed: number;
  /** The last of them; null: there is none. */
  readonly last: EvaluationPlace | null;
}

export interface JudgeCountStore {
  /** Judges that are not deleted, oldest first: the order of their list. */
  queues(projectId: string, window: Window): readonly JudgeQueue[];
  /** Counts evaluations in the order of storing, so many at most. @param after the first is behind this one; null: the very first */
  count(judgeId: string, between: StoredBetween, after: EvaluationPlace | null, most: number): CountedPortion;
  /** All corrections of evaluations by these judges. */
  corrections(judgeIds: readonly string[]): readonly SameCorrections[];
}

/** Evaluations counted at once: a few milliseconds of work between two turns of the event loop. */
const AT_ONCE = 10_000;

/** The figures of a project's judges. */
export class JudgeFigureService {
  readonly #store: JudgeCountStore;

  constructor(store: JudgeCountStore) {
    this.#store = store;
  }

  async list(projectId: string, between: StoredBetween, window: Window, signal?: AbortSignal): Promise<JudgeFigures[]> {
    const listed: JudgeFigures[] = [];
    for (const queue of this.#store.queues(projectId, window)) {
      const { evaluations, passed } = await this.#count(queue.judge_id, between, signal);
      const rate = evaluations === 0 ? null : passed / evaluations;
      listed.push({ ...queue, evaluations, passed, rate, rate_interval: wilson(passed, evaluations) });
    }
    return listed;
  }

  async #count(judgeId: string, between: StoredBetween, signal: AbortSignal | undefined) {
    const sum = { evaluations: 0, passed: 0 };
    let portion: CountedPortion = { ...sum, last: null };
    do {
      portion = this.#store.count(judgeId, between, portion.last, AT_ONCE);
      sum.evaluations += portion.evaluations;
      sum.passed += portion.passed;
      await nextTurn();
      signal?.throwIfAborted();
    } while (portion.evaluations === AT_ONCE);
    return sum;
  }

  /** Of a page of the list of judges, by their ids. */
  async of(
    projectId: string,
    since: Micros,
    window: Window,
    signal?: AbortSignal,
  ): Promise<Map<string, ListedFigures>> {
    const listed = await this.list(projectId, { start: since, end: null }, window, signal);
    const said = new Map<string, SameCorrections[]>(listed.map(({ judge_id }) => [judge_id, []]));
    for (const same of this.#store.corrections([...said.keys()])) said.get(same.judge_id)?.push(same);
    return new Map(
      listed.map(({ judge_id, judge_name: _, ...figures }) => [
        judge_id,
        { ...figures, ...agreementIn(said.get(judge_id) ?? []) },
      ]),
    );
  }
}

/** Cohen's κ of judge and people. */
function agreementIn(said: readonly SameCorrections[]): Pick<ListedFigures, 'kappa' | 'kappa_interval'> {
  const compared = said.map((same) => ({
    judged: same.evaluation_result,
    truth: truthOf(same, { ...same, score: null }),
    times: same.times,
  }));
  const kappa = kappaOf(verdictsOf(compared));
  return { kappa: kappa?.value ?? null, kappa_interval: kappa?.interval ?? null };
}
