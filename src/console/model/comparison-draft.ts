import type { MetricInput } from '../../features/comparisons/input-schema.js';
import type { ScoreDefinitionRead } from '../../features/scores/schema.js';
import type { Experiment } from './experiments.js';
import { commonJudges, type JudgeFigures } from './judge-runs.js';

/** What a metric must be; `none`: it is left out of the comparison. */
export type DraftRule = MetricInput['rule'] | 'none';

/** A metric of a comparison that is about to be made. */
export interface MetricDraft {
  readonly name: string;
  /** What it is called where the name is of ids. */
  readonly label?: string;
  readonly rule: DraftRule;
  /** As it is entered: a number, or a share such as `10%`. */
  readonly margin: string;
  /** What must be reached, as it is entered. */
  readonly value: string;
  /** Whether one value is better than another, so that a rule can be about it. */
  readonly isOrdered: boolean;
}

/** Points of a share, and share of a scale or sum, that are taken for nothing at first. */
const MARGIN = { boolean: '0.03', scale: 0.03, sum: '10%' };
const FIGURES = ['cost', 'duration_ms', 'input_tokens', 'output_tokens'] as const;

/** The metrics that two experiments both have, with rules that make sense at first. */
export function draftsFor(
  candidate: Experiment,
  baseline: Experiment,
  definitions: readonly ScoreDefinitionRead[],
): MetricDraft[] {
  const both = candidate.figures.scores.filter(({ name }) =>
    baseline.figures.scores.some((score) => score.name === name),
  );
  const scores = both.map(({ name, kind }): MetricDraft => {
    const { min, max } = definitions.find((one) => one.name === name) ?? {};
    const draft = { name, value: '', isOrdered: true };
    if (kind === 'boolean') return { ...draft, rule: 'not_worse', margin: MARGIN.boolean };
    if (kind !== 'numeric') return { ...draft, rule: 'report', margin: '', isOrdered: false };
    if (min == null || max == null) return { ...draft, rule: 'no_regression', margin: '' };
    return { ...draft, rule: 'not_worse', margin: String(Number(((max - min) * MARGIN.scale).toPrecision(3))) };
  });
  const judges = commonJudges(candidate, baseline).map(judged);
  return [
    ...judges,
    ...scores,
    errors(candidate, baseline),
    ...FIGURES.map((name) => figure(name, candidate, baseline)),
  ];
}

/** The metric of a judge's verdicts. */
export function metricOf({ judge_id }: Pick<JudgeFigures, 'judge_id'>): string {
  return `judge:${judge_id}`;
}

function judged(judge: JudgeFigures): MetricDraft {
  const draft = { name: metricOf(judge), label: judge.name, value: '', isOrdered: true };
  // The scale of a scored judge is not known here.
  if (judge.evaluation_type === 'scored') return { ...draft, rule: 'no_regression', margin: '' };
  return { ...draft, rule: 'not_worse', margin: MARGIN.boolean };
}

function errors(candidate: Experiment, baseline: Experiment): MetricDraft {
  const any = candidate.figures.errors + baseline.figures.errors > 0;
  return { name: 'error', rule: any ? 'no_regression' : 'none', margin: '', value: '', isOrdered: true };
}

function figure(name: (typeof FIGURES)[number], candidate: Experiment, baseline: Experiment): MetricDraft {
  const field = name === 'duration_ms' ? 'duration_ms_p50' : name;
  const isKnown = candidate.figures[field] !== null && baseline.figures[field] !== null;
  const rule = !isKnown || name.endsWith('tokens') ? 'none' : name === 'cost' ? 'not_worse' : 'report';
  return { name, rule, margin: rule === 'not_worse' ? MARGIN.sum : '', value: '', isOrdered: true };
}

/** Metrics as they are sent. */
export function metricsOf(drafts: readonly MetricDraft[]): MetricInput[] {
  return drafts.flatMap(({ name, rule, margin, value }) =>
    rule === 'none'
      ? []
      : [
          {
            name,
            rule,
            ...(rule === 'not_worse' && { margin: /%$/.test(margin) ? margin.replace(/\s/g, '') : Number(margin) }),
            ...(rule === 'at_least' && { value: Number(value) }),
          },
        ],
  );
}

/** Why a comparison cannot be made of these; null: it can. */
export function refusedMetrics(drafts: readonly MetricDraft[]): string | null {
  if (drafts.every(({ rule }) => rule === 'none')) return 'Choose a metric';
  for (const { label, name: id, rule, margin, value } of drafts) {
    const name = label ?? id;
    if (rule === 'not_worse' && !/^\s*\d+(\.\d+)?\s*%?\s*$/.test(margin)) return `Enter a margin of ${name}`;
    if (rule === 'at_least' && !/^\s*-?\d+(\.\d+)?\s*$/.test(value)) return `Enter what ${name} must reach`;
  }
  return null;
}
