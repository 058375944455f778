import type { CalibrationRead } from '../../features/calibration/schema.js';
import { promptVersionIdOf, revisionOf, stepAfter, stepOf } from '../../features/calibration/versions.js';
import { count, counted, kappa, money, percent } from './format.js';

type Version = Pick<CalibrationRead['by_version'][number], 'version' | 'prompt_version_id' | 'examples'>;
type Report = Pick<CalibrationRead, 'count' | 'rate' | 'kappa' | 'kappa_version' | 'revision'> & {
  readonly by_version: readonly Version[];
};

/** The version, as a report names it, that an evaluation was made by. @param exact as the evaluation says it; null: it ran elsewhere */
export function versionNamed(versions: readonly Version[], exact: string | null): string | null {
  if (exact === null) return null;
  const [id, step] = [promptVersionIdOf(exact), stepOf(revisionOf(exact) ?? 0)];
  return versions.find((one) => one.prompt_version_id === id && isAt(one, step))?.version ?? null;
}

/**
 * What a correction has changed, in words: what it counts for, the figures, and what the judge makes of it.
 * @param before the report as it was; undefined: no one knows
 * @param exact the version that made the evaluation; undefined: no one knows
 */
export function afterCorrection(before: Report | undefined, after: Report, exact?: string | null): string {
  const moved = (read: (report: Report) => string) =>
    before === undefined || read(before) === read(after) ? read(after) : `${read(before)} → ${read(after)}`;
  const version = exact === undefined ? null : versionNamed(after.by_version, exact);
  return [
    `Saved. ${version === null ? 'It counts' : `It counts for ${version}, which made the verdict,`} from now on: ` +
      `with ${counted(after.count, 'correction')}, agreement is ${moved(({ rate }) => percent(rate))}, ` +
      `κ${after.kappa_version === null ? '' : ` of ${after.kappa_version}`} ${moved((report) => kappa(report.kappa))}.`,
    nextEvaluation(after),
  ].join(' ');
}

/** What the next evaluation is made with, and when the next version begins, for which figures are recounted. */
export function nextEvaluation({ revision, by_version }: Report): string {
  if (revision === null) return 'Judges see no corrections: JUDGE_EXAMPLE_TOKENS is 0.';
  if (revision === 0) return 'There are no corrections to show it yet.';
  const newest = by_version.findLast(({ examples }) => examples !== null);
  const goesOn = newest !== undefined && isAt(newest, stepOf(revision));
  return goesOn
    ? `Its next evaluation uses revision ${revision} of its corrections, still as ${newest.version}; the next version starts at revision ${stepAfter(revision)}.`
    : `Its next evaluation uses revision ${revision} of its corrections and starts its next version.`;
}

function isAt({ examples }: Version, step: number): boolean {
  return examples !== null && stepOf(examples.from) === step;
}

/** What the κ that stands for a judge is of. */
export function kappaNote({
  kappa: newest,
  kappa_version,
  kappa_of_all,
}: Pick<CalibrationRead, 'kappa' | 'kappa_version' | 'kappa_of_all'>): string {
  if (kappa_version === null) return 'No reviewed verdicts yet';
  const of = kappa_version === 'external' ? 'external evaluations' : `${kappa_version}, its newest version`;
  return `of ${of}${newest === null ? ', with too few reviews' : ''}; all versions: ${kappa(kappa_of_all)}`;
}

/** What corrections add to each call of a judge; null: nothing. */
export function perCallNote(of: CalibrationRead['corrections_per_call']): string | null {
  if (of === null || of.corrections === 0) return null;
  const { corrections, input_tokens, model, cost } = of;
  const shown = `${counted(corrections, 'correction')} ${corrections === 1 ? 'adds' : 'add'} about ${count(input_tokens)} tokens to each call`;
  if (model === null) return `${shown}.`;
  return cost === null ? `${shown}; the price of ${model} is unknown.` : `${shown}, ${money(cost)} with ${model}.`;
}
