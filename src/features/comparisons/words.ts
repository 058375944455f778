import type { Interval } from '../../engine/statistics/intervals.js';
import type { ArmFigures, Difference, Metric, MetricFigures, Noise, Spent } from './comparison.js';
import type { MetricJudge } from './judge-agreement.js';

type Named = Pick<Metric, 'name' | 'measure'>;

const WHOLE = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });
const EXACT = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4 });
/** Of many digits: no one reads 300 of them. */
const SHORT = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 4, notation: 'scientific' });
const TENTHS = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

const isLong = (value: number) => Math.abs(value) >= 1e12 || (value !== 0 && Math.abs(value) < 1e-9);
const exact = (value: number) => (isLong(value) ? SHORT : EXACT).format(value);
const tenths = (value: number) => (Math.abs(value) >= 1e12 ? SHORT : TENTHS).format(value);

/** A whole number of things, with their name in the plural where there are several. */
export function countOf(count: number, one: string, many = `${one}s`): string {
  return `${Math.abs(count) >= 1e12 ? SHORT.format(count) : WHOLE.format(count)} ${count === 1 ? one : many}`;
}

/** An experiment as people know it: by its name, and by the tag that it was asked for by. */
export function experimentText({ name, tag }: { readonly name: string; readonly tag: string | null }): string {
  return tag === null || tag === name ? name : `${name} (${tag})`;
}

/** A value of a metric, as people write it. */
export function valueText({ name, measure }: Named, value: number): string {
  if (measure === 'boolean') return `${tenths(value * 100)}%`;
  if (name === 'cost' && measure === 'sum') return `$${exact(value)}`;
  if (name === 'duration_ms' && measure === 'sum') return `${exact(value)} ms`;
  return exact(value);
}

/** What an arm has of a metric, in a word; null: nothing that one word says. */
export function armText(metric: Named, arm: ArmFigures): string | null {
  const value = arm.sum ?? arm.mean;
  return value === null ? null : valueText(metric, value);
}

/** A difference, with its sign. */
export function differenceText({ measure }: Named, value: number, relative: boolean, signed = true): string {
  const sign = signed && value > 0 ? '+' : '';
  if (relative) return `${sign}${tenths(value * 100)}%`;
  if (measure === 'boolean') return `${sign}${tenths(value * 100)} points`;
  return `${sign}${exact(value)}`;
}

/** A difference with its interval. */
export function differenceWithInterval(metric: Named, { value, interval, relative }: Difference): string {
  const text = (number: number) => differenceText(metric, number, relative);
  return interval === null ? text(value) : `${text(value)} (${text(interval.low)} to ${text(interval.high)})`;
}

export function intervalText(metric: Named, { low, high }: Interval): string {
  return `${valueText(metric, low)} to ${valueText(metric, high)}`;
}

export function probabilityText(p: number): string {
  return p < 0.0001 ? 'below 0.0001' : p.toPrecision(2);
}

/** What was found of a metric, in one sentence. */
export function foundText(metric: MetricFigures): string {
  const { name, rows, difference, wins, losses, ties, moves } = metric;
  if (metric.measure === 'text') return `${name}: texts are not compared.`;
  if (rows === 0) return `${name}: no row has a value in both experiments.`;
  if (moves !== null) return `${name}: ${countOf(rows - ties, 'row')} of ${WHOLE.format(rows)} changed category.`;
  const [candidate, baseline] = [armText(metric, metric.candidate), armText(metric, metric.baseline)];
  const change = difference === null ? '' : `, ${differenceWithInterval(metric, difference)}`;
  const counts = `${countOf(wins, 'win')}, ${countOf(losses, 'loss', 'losses')}, ${countOf(ties, 'tie')}`;
  return `${name}: ${candidate ?? 'nothing'}, before ${baseline ?? 'nothing'}${change}; ${counts}.`;
}

/** What these rows could have found; null: nothing says so. */
export function detectableText(
  metric: Named & Pick<MetricFigures, 'detectable' | 'rows' | 'difference'>,
): string | null {
  const { detectable, rows, difference } = metric;
  if (detectable === null || difference === null) return null;
  const size = differenceText(metric, detectable, difference.relative, false);
  return `${countOf(rows, 'row')} would show a true change of ${size} in four of five cases.`;
}

/** Both experiments tried the same. */
export const REPEAT_TEXT =
  'Both experiments ran the same subject: their difference is noise of dataset, model and judges. Later comparisons show it.';

/** What the same differed by when it was tried twice, in one sentence. */
export function noiseText(metric: Named, { low, high }: Noise, relative: boolean): string {
  const text = (value: number) => differenceText(metric, value, relative);
  return `Two runs of the same subject differed by ${text(low)} to ${text(high)}: a difference within that range may be noise.`;
}

/** Metrics of judges begin so, with the judge's id. */
const JUDGES = /judge:([0-9a-f-]{36})/gi;

/** Writes the names of metrics, also within sentences, as people know them: those of judges by the judge's name. */
export function namesIn(
  metrics: readonly { readonly judge?: Pick<MetricJudge, 'id' | 'name'> | null }[],
): (text: string) => string {
  const names = new Map(metrics.flatMap(({ judge }) => (judge == null ? [] : [[judge.id, judge.name] as const])));
  return (text) => text.replace(JUDGES, (metric, id: string) => names.get(id.toLowerCase()) ?? metric);
}

/** What a comparison cost, in one sentence; empty: that is not known. */
export function spentText(spent: Spent | undefined): string {
  const known = Object.entries(spent ?? {}).filter((entry): entry is [string, number] => entry[1] !== null);
  return known.length === 0 ? '' : `Cost: ${known.map(([what, cost]) => `${what} $${exact(cost)}`).join(', ')}.`;
}

/** How far people agree with the judge of a metric, in one sentence. */
export function agreementText({ name, corrections, agreed, kappa, kappa_interval: interval }: MetricJudge): string {
  const judge = JSON.stringify(name);
  if (corrections === 0)
    return `No one has reviewed evaluations by this version of the judge ${judge}: review some to see how far to trust it.`;
  const digits = (value: number) => value.toFixed(2);
  const range = interval === null ? '' : ` (${digits(interval.low)} to ${digits(interval.high)})`;
  const beyondChance = kappa === null ? '' : `, κ ${digits(kappa)}${range}`;
  return `People agreed with this version of the judge ${judge} in ${agreed} of ${countOf(corrections, 'review')}${beyondChance}.`;
}
