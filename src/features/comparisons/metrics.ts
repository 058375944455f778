import type { Issue } from '../../engine/errors.js';
import type { ScoreDefinition } from '../scores/definition.js';
import { ERROR, FIGURES, type Margin, type Measure } from './comparison.js';
import { judgeIdOf } from './judged-metrics.js';
import type { MeasuredMetric } from './pairing.js';
import type { MetricInput } from './input-schema.js';

/** Metrics as they are asked for, and what is wrong with them. */
export interface ReadMetrics {
  readonly metrics: readonly MeasuredMetric[];
  readonly issues: readonly Issue[];
}

/** @param find the definition of a score's name, which its first value makes */
export function readMetrics(
  inputs: readonly MetricInput[],
  find: (name: string) => ScoreDefinition | undefined,
): ReadMetrics {
  const metrics = inputs.map((input) => metricOf(input, find(input.name)));
  return {
    metrics,
    issues: inputs.flatMap((input, index) =>
      issuesOf(input, index, inputs, metrics[index], find(input.name) !== undefined),
    ),
  };
}

/** Names of the scores among metrics. */
export function scoresAmong(metrics: readonly MeasuredMetric[]): string[] {
  return metrics.map(({ name }) => name).filter((name) => !isBuiltIn(name));
}

const isFigure = (name: string) => FIGURES.some((figure) => figure === name);
const isBuiltIn = (name: string) => name === ERROR || isFigure(name);
const MEASURE_OF = { boolean: 'boolean', numeric: 'number', categorical: 'category', text: 'text' } as const;

function metricOf(input: MetricInput, defined: ScoreDefinition | undefined): MeasuredMetric {
  const { name, rule, margin, value, direction } = input;
  const definition = isBuiltIn(name) ? undefined : defined;
  return {
    name,
    rule,
    margin: margin == null ? null : marginOf(margin),
    value: value ?? null,
    direction: direction ?? definition?.direction ?? (isBuiltIn(name) ? 'lower' : 'higher'),
    measure: measureOf(name, definition),
    min: definition?.min ?? null,
    max: definition?.max ?? null,
  };
}

/** A name that no score has yet will have no values either. */
function measureOf(name: string, definition: ScoreDefinition | undefined): Measure {
  if (isFigure(name)) return 'sum';
  if (name === ERROR) return 'boolean';
  return definition === undefined ? 'number' : MEASURE_OF[definition.kind];
}

function marginOf(margin: number | string): Margin {
  return typeof margin === 'number' ? { absolute: margin } : { share: Number(margin.slice(0, -1)) / 100 };
}

function issuesOf(
  { name, rule, margin, value }: MetricInput,
  index: number,
  all: readonly MetricInput[],
  metric: MeasuredMetric | undefined,
  isDefined: boolean,
): Issue[] {
  const at = (field: string, detail: string | false) =>
    detail === false ? [] : [{ pointer: `/metrics/${index}/${field}`, detail }];
  const isUnordered = metric?.measure === 'category' || metric?.measure === 'text';
  return [
    ...at('name', judgeIdOf(name) !== null && !isDefined && 'there is no judge with this id'),
    ...at('name', all.findIndex((other) => other.name === name) < index && 'is there twice'),
    ...at('margin', rule === 'not_worse' && margin == null && 'is required by not_worse'),
    ...at('margin', rule !== 'not_worse' && margin != null && `is for not_worse, not for ${rule}`),
    ...at('value', rule === 'at_least' && value == null && 'is required by at_least'),
    ...at('value', rule !== 'at_least' && value != null && `is for at_least, not for ${rule}`),
    ...at(
      'rule',
      rule !== 'report' &&
        isUnordered &&
        'must be report: these scores are categories or texts, which are neither better nor worse',
    ),
  ];
}
