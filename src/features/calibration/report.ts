import type { Micros } from '../../engine/timestamp.js';
import { scoreError, truthOf, type Truth } from './opinion.js';
import type { Correction, JudgedResult, UsedVersion } from './correction.js';
import { CONFIDENCE, wilson, type Interval } from '../../engine/statistics/intervals.js';
import { cohensKappa, type Kappa } from './statistics.js';
import { EXTERNAL, groupVersions, newestOf, revisionOf, type Grouping, type VersionGroup } from './versions.js';

/** Figures of some corrections of a judge; null: they do not define it. */
export interface Agreement {
  readonly count: number;
  /** How many of them hold the judge to be right. */
  readonly agreed: number;
  /** `agreed` of `count`. */
  readonly rate: number | null;
  readonly rate_interval: Interval | null;
  /** Different spans among them. */
  readonly spans: number;
  /** Verdicts of judge and person compared, of evaluated spans. */
  readonly verdicts: {
    readonly both_pass: number;
    readonly judge_pass_human_fail: number;
    readonly judge_fail_human_pass: number;
    readonly both_fail: number;
  };
  /** Cohen's κ of the verdicts. */
  readonly kappa: number | null;
  readonly kappa_interval: Interval | null;
  /** How many corrections say what the score should have been. */
  readonly scores_compared: number;
  readonly mean_absolute_score_error: number | null;
}

/** Agreement in one week. */
export interface WeekAgreement extends Agreement {
  /** Monday, 00:00 UTC. */
  readonly start: Micros;
}

/** Agreement about the evaluations of one version of the judge. */
export interface VersionAgreement extends Agreement, Omit<VersionGroup, 'members'> {
  /** Corrections left out, since the judge had been told. */
  readonly not_counted: number;
}

/** How far a judge and people agree. `kappa` and its interval are of the newest version alone, all else is of all versions. */
export interface Calibration extends Agreement {
  /** Name of that version; null: there is none. */
  readonly kappa_version: string | null;
  /** Of all versions together, as `verdicts`. */
  readonly kappa_of_all: number | null;
  readonly kappa_of_all_interval: Interval | null;
  readonly judge_id: string;
  /** Confidence of every interval. */
  readonly confidence: number;
  /** Corrections of spans that the judge had not evaluated. */
  readonly without_evaluation: number;
  /** By the week of the correction; weeks without any are left out. */
  readonly by_week: readonly WeekAgreement[];
  readonly by_version: readonly VersionAgreement[];
}

type EvaluatedCorrection = Correction & { readonly evaluation: JudgedResult };

/** The report on how far a judge and people agree, from their corrections. */
export function calibrationOf(
  judgeId: string,
  corrections: readonly Correction[],
  versions: readonly UsedVersion[],
  grouping: Grouping,
): Calibration {
  const all = agreementOf(corrections);
  const by_version = byVersion(corrections, versions, grouping);
  const newest = newestOf(by_version);
  return {
    judge_id: judgeId,
    confidence: CONFIDENCE,
    ...all,
    kappa: newest?.kappa ?? null,
    kappa_interval: newest?.kappa_interval ?? null,
    kappa_version: newest?.version ?? null,
    kappa_of_all: all.kappa,
    kappa_of_all_interval: all.kappa_interval,
    without_evaluation: corrections.filter(({ evaluation }) => evaluation === null).length,
    by_week: byWeek(corrections),
    by_version,
  };
}

function agreementOf(corrections: readonly Correction[]): Agreement {
  const compared = corrections.filter(isEvaluated).map((correction) => {
    const { evaluation } = correction;
    const truth = truthOf(correction, evaluation);
    return { judged: evaluation.evaluation_result, truth, error: scoreError(truth, evaluation.score) };
  });
  const errors = compared.flatMap(({ error }) => (error === null ? [] : [error]));
  const verdicts = verdictsOf(compared);
  const kappa = kappaOf(verdicts);
  const count = corrections.length;
  const agreed = corrections.filter(({ thumbs_up }) => thumbs_up).length;
  return {
    count,
    agreed,
    rate: count === 0 ? null : agreed / count,
    rate_interval: wilson(agreed, count),
    spans: new Set(corrections.map(({ span_id }) => span_id)).size,
    verdicts,
    kappa: kappa?.value ?? null,
    kappa_interval: kappa?.interval ?? null,
    scores_compared: errors.length,
    mean_absolute_score_error:
      errors.length === 0 ? null : errors.reduce((total, error) => total + error, 0) / errors.length,
  };
}

/** A verdict of a judge and that of a person. */
interface Compared {
  readonly judged: boolean;
  readonly truth: Pick<Truth, 'passed'>;
  /** How often they were so; default: once. */
  readonly times?: number;
}

export function verdictsOf(compared: readonly Compared[]): Agreement['verdicts'] {
  const cell = (judged: boolean, passed: boolean) =>
    compared.reduce(
      (sum, each) => sum + (each.judged === judged && each.truth.passed === passed ? (each.times ?? 1) : 0),
      0,
    );
  return {
    both_pass: cell(true, true),
    judge_pass_human_fail: cell(true, false),
    judge_fail_human_pass: cell(false, true),
    both_fail: cell(false, false),
  };
}

export function kappaOf(verdicts: Agreement['verdicts']): Kappa | null {
  return cohensKappa([
    [verdicts.both_pass, verdicts.judge_pass_human_fail],
    [verdicts.judge_fail_human_pass, verdicts.both_fail],
  ]);
}

const DAY: Micros = 86_400e6;
/** A Monday, from which weeks are counted. */
const FIRST_MONDAY: Micros = 4 * DAY;

function byWeek(corrections: readonly Correction[]): WeekAgreement[] {
  const weeks = new Map<Micros, Correction[]>();
  for (const correction of corrections) {
    const monday = correction.given_at - modulo(correction.given_at - FIRST_MONDAY, 7 * DAY);
    const known = weeks.get(monday);
    if (known === undefined) weeks.set(monday, [correction]);
    else known.push(correction);
  }
  return [...weeks].map(([start, of]) => ({ start, ...agreementOf(of) }));
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/**
 * Corrections by version of the judge. Left out are spans that already had a correction when they were evaluated: the
 * judge may have been shown it, so the evaluation shows nothing.
 */
function byVersion(
  corrections: readonly Correction[],
  used: readonly UsedVersion[],
  grouping: Grouping,
): VersionAgreement[] {
  const groups = groupVersions(used, grouping);
  const byExact = new Map(
    groups.flatMap((group) => [...(group.members ?? [])].map((exact) => [exact, group] as const)),
  );
  const found = new Map<VersionGroup, EvaluatedCorrection[]>(groups.map((group) => [group, []]));
  for (const correction of corrections.filter(isEvaluated)) {
    const { judge_version } = correction.evaluation;
    const group = (judge_version === null ? undefined : byExact.get(judge_version)) ?? EXTERNAL;
    const known = found.get(group);
    if (known === undefined) found.set(group, [correction]);
    else known.push(correction);
  }
  return [...found].map(([group, of]) => {
    const evidence = of.filter((correction) => !wasToldBefore(correction));
    const { members: _members, ...described } = group;
    return { ...described, not_counted: of.length - evidence.length, ...agreementOf(evidence) };
  });
}

function wasToldBefore({ evaluation, known_since }: EvaluatedCorrection): boolean {
  const revision = revisionOf(evaluation.judge_version);
  return revision !== null && known_since !== null && known_since <= revision;
}

function isEvaluated(correction: Correction): correction is EvaluatedCorrection {
  return correction.evaluation !== null;
}
