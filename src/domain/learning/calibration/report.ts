import { DateTime } from 'luxon';
import { formatTimestamp, type Micros } from '../../time/timestamp.js';
import { scoreError, truthOf } from './opinion.js';
import type { AgreementRead, CalibrationRead, VersionAgreementRead, WeekAgreementRead } from './schema.js';
import type { JudgedResult, Statement, UsedVersion } from './statement.js';
import { CONFIDENCE, cohensKappa, wilson } from './statistics.js';
import { EXTERNAL, groupVersions, revisionOf, type Grouping, type VersionGroup } from './versions.js';

type EvaluatedStatement = Statement & { readonly evaluation: JudgedResult };

/** How far a judge and people agree, from what they said of its evaluations. */
export function calibrationOf(
  judgeId: string,
  statements: readonly Statement[],
  versions: readonly UsedVersion[],
  grouping: Grouping,
): CalibrationRead {
  return {
    judge_id: judgeId,
    confidence: CONFIDENCE,
    ...agreementOf(statements),
    without_evaluation: statements.filter(({ evaluation }) => evaluation === null).length,
    by_week: byWeek(statements),
    by_version: byVersion(statements, versions, grouping),
  };
}

/** The figures of some statements; what is not defined of them is null. */
function agreementOf(statements: readonly Statement[]): AgreementRead {
  const compared = statements.filter(isEvaluated).map((statement) => {
    const { evaluation } = statement;
    const truth = truthOf(statement, evaluation);
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
  const count = statements.length;
  const agreed = statements.filter(({ thumbs_up }) => thumbs_up).length;
  return {
    count,
    agreed,
    rate: count === 0 ? null : agreed / count,
    rate_interval: wilson(agreed, count),
    spans: new Set(statements.map(({ span_id }) => span_id)).size,
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

function byWeek(statements: readonly Statement[]): WeekAgreementRead[] {
  const weeks = new Map<Micros, Statement[]>();
  for (const statement of statements) {
    const monday = statement.given_at - modulo(statement.given_at - FIRST_MONDAY, 7 * DAY);
    const known = weeks.get(monday);
    if (known === undefined) weeks.set(monday, [statement]);
    else known.push(statement);
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
 * Evidence for a version are statements about evaluations made with it, but for those about spans that people had spoken
 * of before: then the judge had been told, and its evaluation shows nothing.
 */
function byVersion(
  statements: readonly Statement[],
  used: readonly UsedVersion[],
  grouping: Grouping,
): VersionAgreementRead[] {
  const groups = groupVersions(used, grouping);
  const byExact = new Map(
    groups.flatMap((group) => [...(group.members ?? [])].map((exact) => [exact, group] as const)),
  );
  const found = new Map<VersionGroup, EvaluatedStatement[]>(groups.map((group) => [group, []]));
  for (const statement of statements.filter(isEvaluated)) {
    const { judge_version } = statement.evaluation;
    const group = (judge_version === null ? undefined : byExact.get(judge_version)) ?? EXTERNAL;
    const known = found.get(group);
    if (known === undefined) found.set(group, [statement]);
    else known.push(statement);
  }
  return [...found].map(([group, of]) => {
    const evidence = of.filter((statement) => !wasToldBefore(statement));
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

function wasToldBefore({ evaluation, known_since }: EvaluatedStatement): boolean {
  const revision = revisionOf(evaluation.judge_version);
  return revision !== null && known_since !== null && known_since <= revision;
}

function isEvaluated(statement: Statement): statement is EvaluatedStatement {
  return statement.evaluation !== null;
}

function timeOf(at: Micros | null): string | null {
  return at === null ? null : formatTimestamp(at);
}
