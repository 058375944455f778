import {
  NONE_LEFT_OUT,
  type LeftOutRows,
  type MetricOutcome,
  type PairedRows,
  type Spent,
  type Verdict,
} from './comparison.js';
import { outcomesOf } from './gate.js';
import { figuresOf } from './metric-figures.js';
import { countOf, detectableText } from './words.js';

/** What a comparison found. */
export interface Outcome {
  readonly verdict: Verdict;
  /** Why, in sentences. */
  readonly because: readonly string[];
  readonly metrics: readonly MetricOutcome[];
}

/** What a comparison found, and of how many rows. */
export interface Compared extends Outcome {
  /** Rows that have results in both experiments. */
  readonly rows: number;
  readonly left_out: LeftOutRows;
  /** Absent: nothing was compared. */
  readonly spent?: Spent;
}

/** Compares paired rows: the same each time for the same rows and seed. @param resamples for tests */
export function outcomeOf(paired: PairedRows, resamples?: number): Outcome {
  const metrics = outcomesOf(
    paired.metrics.map((metric) => figuresOf(metric, { ...paired, resamples })),
    paired.confidence,
  );
  return { ...overall(metrics), metrics };
}

function overall(metrics: readonly MetricOutcome[]): Pick<Outcome, 'verdict' | 'because'> {
  const gated = metrics.filter(({ rule }) => rule !== 'report');
  const of = (verdict: MetricOutcome['verdict']) => gated.filter((metric) => metric.verdict === verdict);
  const verdict = of('failed').length > 0 ? 'failed' : of('undecided').length > 0 ? 'undecided' : 'passed';
  if (gated.length === 0) return { verdict, because: ['No metric has a rule: all are reported, and none can fail.'] };
  const deciding = verdict === 'passed' ? gated : [...of('failed'), ...of('undecided')];
  const passed = gated.length - deciding.length;
  const others = verdict !== 'passed' && passed > 0 ? [`${countOf(passed, 'other metric')} passed.`] : [];
  return { verdict, because: [...deciding.map(sentence), ...others] };
}

function sentence(metric: MetricOutcome): string {
  return [metric.because, detectableText(metric)].filter((text) => text !== null).join(' ');
}

/** What is said when there is nothing to compare. */
export function incomparable(because: string, left_out: LeftOutRows = NONE_LEFT_OUT): Compared {
  return { verdict: 'incomparable', because: [because], metrics: [], rows: 0, left_out };
}
