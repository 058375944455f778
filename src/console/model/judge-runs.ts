import type { Experiment } from './experiments.js';

export type JudgeFigures = NonNullable<Experiment['judges']>[number];

/** The judge's version as it is now, which a run call names so. */
export const CURRENT = 'current';

/** A version of a judge that results can be evaluated by. */
export interface RunnableVersion {
  readonly version: string;
  /** The experiment that it evaluated before; null: it is the judge's as it is now. */
  readonly ranOn: string | null;
}

/**
 * The versions of a judge by which an experiment can be evaluated, the one that makes it comparable first: that which was run on
 * it last, those that were run on the others, and the judge's as it is now.
 */
export function runnableVersions(judgeId: string, of: Experiment, others: readonly Experiment[]): RunnableVersion[] {
  const found = new Map<string, string | null>();
  for (const { name, judges = [] } of [of, ...others])
    for (const { judge_id, judge_version, available } of judges)
      if (judge_id === judgeId && available && !found.has(judge_version)) found.set(judge_version, name);
  return [...found, [CURRENT, null] as const].map(([version, ranOn]) => ({ version, ranOn }));
}

/** How many results a version still has to evaluate, at most: those without an output are among them. */
export function resultsLeft({ figures, judges = [] }: Experiment, judgeId: string, version: string): number {
  const known = judges.find((judge) => judge.judge_id === judgeId && judge.judge_version === version);
  return Math.max(0, figures.results - (known === undefined ? 0 : known.evaluated + known.pending));
}

/** The judges that evaluated both experiments by one version, as a comparison takes them. */
export function commonJudges(candidate: Experiment, baseline: Experiment): JudgeFigures[] {
  const found = new Map<string, JudgeFigures>();
  for (const judge of candidate.judges ?? [])
    if (!found.has(judge.judge_id) && versionsOf(baseline).has(judge.judge_version)) found.set(judge.judge_id, judge);
  return [...found.values()];
}

const versionsOf = ({ judges = [] }: Experiment) => new Set(judges.map(({ judge_version }) => judge_version));

/** A judge that did not evaluate both experiments by one version. */
export interface LackingJudge {
  readonly judge: JudgeFigures;
  /** The experiment that it has to evaluate. */
  readonly lacks: 'candidate' | 'baseline';
  /** Whether it has evaluated that one, too, by another version. */
  readonly differs: boolean;
}

/** The judges whose verdicts a comparison could not take yet, and on what they are to be run. */
export function lackingJudges(candidate: Experiment, baseline: Experiment): LackingJudge[] {
  const common = new Set(commonJudges(candidate, baseline).map(({ judge_id }) => judge_id));
  const found = new Map<string, LackingJudge>();
  for (const [{ judges = [] }, other, lacks] of [
    [baseline, candidate, 'candidate'],
    [candidate, baseline, 'baseline'],
  ] as const)
    for (const judge of judges) {
      if (common.has(judge.judge_id) || found.has(judge.judge_id) || !judge.available) continue;
      const differs = other.judges?.some(({ judge_id }) => judge_id === judge.judge_id) === true;
      found.set(judge.judge_id, { judge, lacks, differs });
    }
  return [...found.values()];
}
