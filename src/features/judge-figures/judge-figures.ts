import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JudgedResult, Opinion, UsedVersion } from '../calibration/correction.js';
import { truthOf } from '../calibration/opinion.js';
import { kappaOf, verdictsOf } from '../calibration/report.js';
import { wilson, type Interval } from '../../engine/statistics/intervals.js';
import { EXTERNAL, groupVersions, newestOf } from '../calibration/versions.js';
import { PortionSize } from '../../engine/work/portions.js';
import type { Window } from '../../engine/schema/page.js';
import type { Micros } from '../../engine/timestamp.js';

/** When evaluations were stored, both ends inclusive; null: no bound. */
export interface StoredBetween {
  readonly start: Micros | null;
  readonly end: Micros | null;
}

/** A judge, and what it is about to look at. */
export interface JudgeQueue {
  readonly judge_id: string;
  readonly judge_name: string;
  /** Runs that wait or are in progress, and those that failed for good; at whatever time. */
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
  /** Of the newest version of the judge. */
  readonly kappa: number | null;
  readonly kappa_interval: Interval | null;
  readonly kappa_version: string | null;
}

/** Corrections of a judge that say the same of the same result of one exact version. */
export interface SameCorrections
  extends Opinion, Pick<JudgedResult, 'evaluation_result' | 'pass_threshold' | 'judge_version'> {
  readonly times: number;
}

/** Where a correction stands among those of its judge. */
export interface CorrectionPlace {
  readonly span_id: string;
  readonly revision: number;
  /** The store's own number. */
  readonly number: number;
}

/** Some of a judge's corrections, counted. */
export interface SaidPortion {
  readonly said: readonly SameCorrections[];
  /** The last of them, behind which more may stand; null: none does. */
  readonly last: CorrectionPlace | null;
}

/** A version of a judge, and the number of its first evaluation. */
export interface NumberedVersion extends UsedVersion {
  readonly first_seq: number;
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
  /** The last of them, behind which more may stand; null: none does. */
  readonly last: EvaluationPlace | null;
}

export interface JudgeCountStore {
  /** Judges that are not deleted, oldest first: the order of their list. */
  queues(projectId: string, window: Window): readonly JudgeQueue[];
  /** Counts evaluations in the order of storing, so many at most. @param after the first is behind this one; null: the very first */
  count(judgeId: string, between: StoredBetween, after: EvaluationPlace | null, most: number): CountedPortion;
  /** Versions of a judge in the order in which they began. */
  versions(judgeId: string): readonly NumberedVersion[];
  /**
   * Corrections of evaluations by a judge from a number on, without spans of which the judge had been told before; so many at most
   * are looked at, in the order of spans. @param after the first is behind this one; null: the very first
   */
  corrections(judgeId: string, from: number, after: CorrectionPlace | null, most: number): SaidPortion;
}

/** Evaluations counted at once: a few milliseconds of work between two turns of the event loop. */
const AT_ONCE = 10_000;
/** Corrections looked at at once, each with its evaluation. */
const CORRECTIONS = { first: 500, most: 5_000 };

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
    } while (portion.last !== null);
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
    const figures = new Map<string, ListedFigures>();
    for (const { judge_id, judge_name: _, ...counted } of listed) {
      figures.set(judge_id, { ...counted, ...(await this.#agreement(judge_id, signal)) });
    }
    return figures;
  }

  /** Of the newest version alone: of earlier ones, instruction or corrections were others. */
  async #agreement(judgeId: string, signal: AbortSignal | undefined): Promise<AgreementFigures> {
    const used = this.#store.versions(judgeId);
    const { version, members } = newestOf(groupVersions(used, 'steps')) ?? EXTERNAL;
    // In the order in which they began.
    const from = used.find(({ judge_version }) => members?.has(judge_version))?.first_seq ?? 0;
    const isOfNewest = ({ judge_version }: SameCorrections) =>
      members === null || (judge_version !== null && members.has(judge_version));
    const said: SameCorrections[] = [];
    const portions = new PortionSize(CORRECTIONS);
    let after: CorrectionPlace | null = null;
    do {
      const begin: CorrectionPlace | null = after;
      const portion: SaidPortion = await portions.turn(
        (most) => this.#store.corrections(judgeId, from, begin, most),
        signal,
      );
      for (const same of portion.said) if (isOfNewest(same)) said.push(same);
      after = portion.last;
    } while (after !== null);
    return { ...kappaIn(said), kappa_version: members === null && said.length === 0 ? null : version };
  }
}

type AgreementFigures = Pick<ListedFigures, 'kappa' | 'kappa_interval' | 'kappa_version'>;

/** Cohen's κ of judge and people. */
function kappaIn(said: readonly SameCorrections[]): Omit<AgreementFigures, 'kappa_version'> {
  const compared = said.map((same) => ({
    judged: same.evaluation_result,
    truth: truthOf(same, { ...same, score: null }),
    times: same.times,
  }));
  const kappa = kappaOf(verdictsOf(compared));
  return { kappa: kappa?.value ?? null, kappa_interval: kappa?.interval ?? null };
}
