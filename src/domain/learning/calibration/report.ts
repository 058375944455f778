import { DateTime } from 'luxon';
import { formatTimestamp, type Micros } from '../../time/timestamp.js';
import { scoreError, truthOf } from './opinion.js';
import type { AgreementRead, CalibrationRead, VersionAgreementRead, WeekAgreementRead } from './schema.js';
import type { Correction, JudgedResult, UsedVersion } from './correction.js';
import { CONFIDENCE, cohensKappa, wilson } from './statistics.js';
import { EXTERNAL, groupVersions, revisionOf, type Grouping, type VersionGroup } from './versions.js';

type EvaluatedCorrection = Correction & { readonly evaluation: JudgedResult };

/** How far a judge and people agree, from what they said of its evaluations. */
export function calibrationOf(
  judgeId: string,
  corrections: readonly Correction[],
  versions: readonly UsedVersion[],
  grouping: Grouping,
): CalibrationRead {
  return {
    judge_id: judgeId,
    confidence: CONFIDENCE,
    ...agreementOf(corrections),
    without_evaluation: corrections.filter(({ evaluation }) => evaluation === null).length,
    by_week: byWeek(corrections),
    by_version: byVersion(corrections, versions, grouping),
  };
}

/** What some corrections come to; a figure that is not defined of them is null. */
function agreementOf(corrections: readonly Correction[]): AgreementRead {
  const compared = corrections.filter(isEvaluated).map((correction) => {
    const { evaluation } = correction;
    const truth = truthOf(correction, evaluation);
    return { judged: evaluation.evaluation_result, truth, error: scoreError(truth, evaluation.score) };
  });
  const errors = compared.flatMap(({ error }) => (error === null ? [] : [error]));
  const cell = (judged: boolean, passed: boolean) =>
    compared.filter((each) => each.judged === judged && each.truth.passed === passed).length;
  const verdicts = {
    both_pass: cell(true, true),
    judge_pass_human_fail: cell(true, false),
    judge_fail_human_pass: cell(false, true),
    both_fail: cell(false, false),
  };
  const kappa = cohensKappa([
    [verdicts.both_pass, verdicts.judge_pass_human_fail],
    [verdicts.judge_fail_human_pass, verdicts.both_fail],
  ]);
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

const DAY: Micros = 86_400e6;
/** A Monday. */
const FIRST_MONDAY: Micros = 4 * DAY;

function byWeek(corrections: readonly Correction[]): WeekAgreementRead[] {
  const weeks = new Map<Micros, Correction[]>();
  for (const correction of corrections) {
    const monday = correction.given_at - modulo(correction.given_at - FIRST_MONDAY, 7 * DAY);
    const known = weeks.get(monday);
    if (known === undefined) weeks.set(monday, [correction]);
    else known.push(correction);
  }
  return [...weeks].map(([monday, of]) => ({
    week: DateTime.fromMillis(monday / 1000, { zone: 'utc' }).toFormat("kkkk-'W'WW"),
    start: formatTimestamp(monday),
    ...agreementOf(of),
  }));
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}

/**
 * Evidence for a version are corrections of evaluations made with it, but for those of spans that people had spoken of
 * before: then the judge had been told, and its evaluation shows nothing.
 */
function byVersion(
  corrections: readonly Correction[],
  used: readonly UsedVersion[],
  grouping: Grouping,
): VersionAgreementRead[] {
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
    const { version, prompt_version, examples, evaluations } = group;
    return {
      version,
      prompt_version,
      examples,
      began_at: timeOf(group.began_at),
      evaluations,
      not_counted: of.length - evidence.length,
      ...agreementOf(evidence),
    };
  });
}

function wasToldBefore({ evaluation, known_since }: EvaluatedCorrection): boolean {
  const revision = revisionOf(evaluation.judge_version);
  return revision !== null && known_since !== null && known_since <= revision;
}

function isEvaluated(correction: Correction): correction is EvaluatedCorrection {
  return correction.evaluation !== null;
}

function timeOf(at: Micros | null): string | null {
  return at === null ? null : formatTimestamp(at);
}
