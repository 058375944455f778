import type { Static } from '@sinclair/typebox';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import type { StoredResult } from '../../../engine/traces/model/experiment/results.js';
import { toJobRead } from '../../../http/job-presenters.js';
import type { ExperimentRun } from '../experiment.js';
import type { MeasuredExperiment } from '../experiment-service.js';
import type { RowBeginning } from '../result-rows.js';
import type { ExperimentRead, ExperimentRunRead, FiguresRead, ResultRead } from '../schema.js';

export function toExperimentRead({ experiment, figures, run }: MeasuredExperiment): Static<typeof ExperimentRead> {
  const { phase: _phase, active_at: _active, created_at, finished_at, tags, subject, parameters, ...rest } = experiment;
  return {
    ...rest,
    ...{ subject: { ...subject }, parameters: { ...parameters }, tags: [...tags] },
    created_at: formatTimestamp(created_at),
    finished_at: formatOptionalTimestamp(finished_at),
    run: run && toRunRead(run),
    figures: toFiguresRead(figures),
  };
}

function toRunRead({ job, ...run }: ExperimentRun): Static<typeof ExperimentRunRead> {
  return { ...toJobRead(job), ...run };
}

/** @param figures null: there are no results */
export function toFiguresRead(figures: MeasuredExperiment['figures']): Static<typeof FiguresRead> {
  const { results = 0, rows = 0, errors = 0, scores = [], first_at = null, last_at = null } = figures ?? {};
  const { cost = null, input_tokens = null, output_tokens = null } = figures ?? {};
  const { duration_ms_p50 = null, duration_ms_p95 = null } = figures ?? {};
  return {
    ...{ results, rows, errors, cost, input_tokens, output_tokens, duration_ms_p50, duration_ms_p95 },
    first_at: formatOptionalTimestamp(first_at),
    last_at: formatOptionalTimestamp(last_at),
    scores: [...scores],
  };
}

/** @param rows what to say of rows, by id; absent: nothing */
export function toResultRead(
  { created_at, scores, ...result }: StoredResult,
  rows?: ReadonlyMap<string, RowBeginning>,
): Static<typeof ResultRead> {
  return {
    ...result,
    scores: { ...scores },
    created_at: formatTimestamp(created_at),
    ...(rows !== undefined && { row: rows.get(result.row_id) ?? null }),
  };
}
