import { CONFIDENCE, type Interval } from '../../engine/statistics/intervals.js';
import { holm } from '../../engine/statistics/holm.js';
import type { MetricFigures, MetricOutcome } from './comparison.js';
import { finiteFigures } from './finite-figures.js';
import { countOf, differenceText, foundText, intervalText, probabilityText, valueText } from './words.js';

/** What came of a metric, and why, in words that follow what was found. */
interface Decided {
  readonly verdict: MetricOutcome['verdict'];
  readonly reason: string;
}

/** Judges each metric by its rule: what is gated by its difference together, since each is a chance of a false alarm. */
export function outcomesOf(metrics: readonly MetricFigures[], confidence = CONFIDENCE): MetricOutcome[] {
  // One without a probability cannot fail: it raises no false alarm, and is undecided.
  const gated = metrics.filter(isGatedByDifference).filter(({ p }) => p !== null && Number.isFinite(p));
  const adjusted = holm(gated.map(({ p }) => p ?? 1));
  return metrics.map((metric) => {
    const place = gated.indexOf(metric);
    const adjusted_p = place === -1 ? null : (adjusted[place] ?? null);
    const { verdict, reason } = decide(metric, adjusted_p, { confidence, gated: gated.length });
    const shown = finiteFigures(metric);
    const because = [foundText(shown), reason].filter((text) => text !== '').join(' ');
    return { ...shown, adjusted_p, verdict, because };
  });
}

const isGatedByDifference = ({ rule }: MetricFigures) => rule === 'no_regression' || rule === 'not_worse';

interface Bounds {
  readonly confidence: number;
  /** How many metrics are gated by their difference. */
  readonly gated: number;
}

function decide(metric: MetricFigures, adjustedP: number | null, bounds: Bounds): Decided {
  if (metric.rule === 'report') return { verdict: 'reported', reason: '' };
  if (metric.rows === 0) return { verdict: 'undecided', reason: 'Nothing can be said.' };
  const { too_large: tooLarge = 0 } = metric.left_out;
  if (tooLarge > 0) return { verdict: 'undecided', reason: `${countOf(tooLarge, 'row')} left out: ${TOO_LARGE}` };
  if (metric.rule === 'at_least') return atLeast(metric);
  const { difference } = metric;
  if (difference === null)
    return { verdict: 'undecided', reason: 'The baseline has nothing that a change could be a share of.' };
  if (difference.interval === null) return { verdict: 'undecided', reason: 'So few rows have no interval.' };
  const { low, high } = difference.interval;
  if (adjustedP === null || ![difference.value, low, high, adjustedP].every(Number.isFinite))
    return { verdict: 'undecided', reason: TOO_LARGE };
  if (metric.rule === 'not_worse' && !Number.isFinite(metric.margin_of_difference ?? NaN))
    return { verdict: 'undecided', reason: 'The margin is too large beside the baseline to be a share of it.' };
  return byDifference(metric, gainOf(metric, difference.interval), adjustedP, bounds);
}

const TOO_LARGE = 'Its values are too large to be compared.';

/** The same interval, in which more is better. */
function gainOf({ direction }: MetricFigures, { low, high }: Interval): Interval {
  return direction === 'higher' ? { low, high } : { low: -high, high: -low };
}

/**
 * A regression is an interval that lies wholly on the worse side of 0, and a test that agrees when all gated metrics are counted:
 * of a handful of rows, the interval alone would raise more false alarms than it promises.
 */
function byDifference(metric: MetricFigures, gain: Interval, adjustedP: number | null, bounds: Bounds): Decided {
  const { rule, difference, margin_of_difference: margin, rows_for_margin } = metric;
  const isWorse = gain.high < 0;
  const isSure = adjustedP !== null && adjustedP <= 1 - bounds.confidence + Number.EPSILON;
  const text = (value: number) => differenceText(metric, value, difference?.relative ?? false, false);
  if (rule === 'not_worse' && margin !== null && gain.low > -margin)
    return { verdict: 'passed', reason: `It is not worse by ${text(margin)} or more.` };
  if (isWorse && isSure) return { verdict: 'failed', reason: `It is worse (p ${probabilityText(adjustedP)}).` };
  if (isWorse) return { verdict: 'undecided', reason: unsure(adjustedP, bounds) };
  if (rule === 'no_regression') return { verdict: 'passed', reason: 'No regression was found.' };
  const needed = rows_for_margin === null ? '' : `; about ${countOf(rows_for_margin, 'row')} would show it`;
  return { verdict: 'undecided', reason: `It may be worse by more than the margin of ${text(margin ?? 0)}${needed}.` };
}

function unsure(adjustedP: number | null, { gated }: Bounds): string {
  const among = gated > 1 ? ` among ${gated} gated metrics` : ' of so few rows';
  return `It looks worse, but that may be chance${among} (p ${probabilityText(adjustedP ?? 1)}).`;
}

/** By the interval of the candidate alone: it is no comparison, and not among those that are adjusted. */
function atLeast(metric: MetricFigures): Decided {
  const { candidate, direction, value } = metric;
  const { mean } = candidate;
  if (mean === null || value === null) return { verdict: 'undecided', reason: 'Nothing can be said.' };
  // Of equal values: what they all are.
  const interval = candidate.interval ?? (metric.rows > 1 ? { low: mean, high: mean } : null);
  if (interval === null) return { verdict: 'undecided', reason: 'So few rows have no interval.' };
  if (![mean, interval.low, interval.high, value].every(Number.isFinite))
    return { verdict: 'undecided', reason: TOO_LARGE };
  const [worst, best] = direction === 'higher' ? [interval.low, interval.high] : [-interval.high, -interval.low];
  const bound = direction === 'higher' ? value : -value;
  const required = `${direction === 'higher' ? 'at least' : 'at most'} ${valueText(metric, value)}`;
  const found = `Its mean of ${valueText(metric, mean)} (${intervalText(metric, interval)})`;
  if (worst >= bound) return { verdict: 'passed', reason: `${found} is ${required}.` };
  if (best < bound) return { verdict: 'failed', reason: `${found} is not ${required}.` };
  return { verdict: 'undecided', reason: `${found} may or may not be ${required}.` };
}
