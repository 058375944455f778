import type { Static } from '@sinclair/typebox';
import { parseJsonText } from '../../../engine/json-text.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import type { StoredResult } from '../../../engine/traces/model/experiment/results.js';
import { evalStatusOf } from '../eval-service.js';
import type { EvalRead, EvalResultRead, EvalSummary, MetricRead, ScorerRead } from '../eval-schema.js';
import type { Experiment, Scorer, StatedMetric } from '../experiment.js';
import type { MeasuredExperiment } from '../experiment-service.js';
import { toFiguresRead } from './presenters.js';
import { isJsonObject } from '../../../engine/json-object.js';

export function toEvalRead(experiment: Experiment, project_id: string): Static<typeof EvalRead> {
  const { id, name, description, dataset, dataset_version, repetitions, subject, parameters } = experiment;
  const model = subject['model'];
  return {
    ...{ id, project_id, dataset_id: dataset.id, dataset_version, name, description },
    ...{ status: evalStatusOf(experiment), total_repetitions: repetitions, config: { ...parameters } },
    model_id: typeof model === 'string' ? model : null,
    created_at: formatTimestamp(experiment.created_at),
    finished_at: formatOptionalTimestamp(experiment.finished_at),
  };
}

export function toEvalSummary(
  { experiment, figures }: MeasuredExperiment,
  project_id: string,
  metrics: readonly StatedMetric[],
): Static<typeof EvalSummary> {
  const of = (scope: StatedMetric['scope']) => metrics.filter((metric) => metric.scope === scope).map(toMetricRead);
  return {
    ...toEvalRead(experiment, project_id),
    figures: toFiguresRead(figures),
    column_metrics: of('column'),
    eval_metrics: of('run'),
  };
}

/** The SDK looks into results, and needs an object. */
export function toEvalResult(result: StoredResult): Static<typeof EvalResultRead> {
  const { id, row_id, trace_id, repetition, has_error, output_data } = result;
  return { id, row_id, trace_id, repetition_number: repetition, has_error, result: asObject(output_data) };
}

function asObject(output: string): Record<string, unknown> | null {
  if (output === '') return null;
  const said = output.startsWith('{') ? parsed(output) : undefined;
  return isJsonObject(said) ? said : { output };
}

function parsed(text: string): unknown {
  try {
    return parseJsonText(text);
  } catch {
    return undefined;
  }
}

export function toScorerRead({
  mode,
  outputs,
  output_formats,
  created_at,
  ...scorer
}: Scorer): Static<typeof ScorerRead> {
  return {
    ...scorer,
    ...{ scoring_mode: mode, outputs: [...outputs], output_formats: { ...output_formats } },
    created_at: formatTimestamp(created_at),
  };
}

export function toMetricRead(metric: StatedMetric): Static<typeof MetricRead> {
  const { name, repetition, results, output_formats, created_at } = metric;
  return {
    ...{ metric_name: name, results: { ...results }, output_formats: { ...output_formats } },
    run_number: repetition === 0 ? null : repetition,
    created_at: formatTimestamp(created_at),
  };
}
