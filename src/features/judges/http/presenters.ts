import { excerptOf } from '../../../engine/excerpt.js';
import type { Window } from '../../../engine/schema/page.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import type { Evaluation, ListedEvaluation } from '../evaluation.js';
import type { Explanation } from '../explanation.js';
import type { CheckedJudge, Judge } from '../judge.js';
import type { JudgePreviewRead } from '../preview-schema.js';
import type { JudgePreview } from '../preview-service.js';
import type { ExplanationRead, RunPageRead, RunQueuedRead, RunRead } from '../run-schema.js';
import type { CurrentRunPage, QueuedRuns } from '../run-service.js';
import type { CurrentRun } from '../run.js';
import type { CriteriaRead, EvaluationRead, JudgeRead, SpanEvaluationsRead } from '../schema.js';
import { settingsBy } from '../settings.js';

export function judgeRead(judge: CheckedJudge): JudgeRead {
  return {
    id: judge.id,
    project_id: judge.project_id,
    ...settingsBy((name) => judge[name]),
    runnable: judge.not_runnable_reason === null,
    not_runnable_reason: judge.not_runnable_reason?.text ?? null,
    judged_since: formatTimestamp(judge.judged_since),
    created_at: formatTimestamp(judge.created_at),
    updated_at: formatTimestamp(judge.updated_at),
  };
}

export function criteriaRead(judge: Judge): CriteriaRead {
  const { id, evaluation_type, score_min, score_max, pass_threshold, criteria } = judge;
  return { judge_id: id, evaluation_type, score_min, score_max, pass_threshold, criteria };
}

type Shown = Evaluation & Partial<Pick<ListedEvaluation, 'judge_subject'>>;

/** Those that ran elsewhere are of spans alone. */
export function evaluationRead(evaluation: Shown): EvaluationRead {
  return {
    id: evaluation.id,
    judge_id: evaluation.judge_id,
    span_id: evaluation.span_id,
    trace_id: evaluation.trace_id,
    subject: evaluation.subject_id == null ? 'span' : (evaluation.judge_subject ?? 'span'),
    subject_id: evaluation.subject_id ?? null,
    evaluation_result: evaluation.evaluation_result,
    evaluation_reason: evaluation.evaluation_reason,
    confidence_score: evaluation.confidence_score,
    score: evaluation.score,
    score_min: evaluation.score_min,
    score_max: evaluation.score_max,
    pass_threshold: evaluation.pass_threshold,
    criteria_scores: evaluation.criteria_scores,
    evaluation_type: evaluation.evaluation_type,
    model_used: evaluation.model_used,
    evaluation_duration_ms: evaluation.duration_ms,
    judge_version: evaluation.judge_version,
    origin: evaluation.origin,
    created_at: formatTimestamp(evaluation.created_at),
  };
}

export function namedEvaluationRead(evaluation: ListedEvaluation): SpanEvaluationsRead['evaluations'][number] {
  return { ...evaluationRead(evaluation), judge_name: evaluation.judge_name };
}

export function runQueuedRead({ drafts: queued, results }: QueuedRuns): RunQueuedRead {
  if (results !== null) return { ...results, runs: [] };
  return {
    queued: queued.length,
    runs: queued.map(({ id, span_id, subject_id = null }) => ({ id, span_id, subject_id })),
  };
}

function runRead(run: CurrentRun): RunRead {
  return {
    id: run.id,
    span_id: run.span_id,
    trace_id: run.trace_id,
    subject_id: run.subject_id ?? null,
    origin: run.origin,
    state: run.state,
    attempts: run.attempts,
    next_attempt_at: run.state === 'queued' ? formatTimestamp(run.next_attempt_at) : null,
    reason: run.reason,
    created_at: formatTimestamp(run.created_at),
    updated_at: formatTimestamp(run.updated_at),
  };
}

export function runPageRead({ runs, total }: CurrentRunPage, window: Window): RunPageRead {
  return { runs: runs.map(runRead), total, ...window };
}

export function explanationRead(explanation: Explanation): ExplanationRead {
  return {
    ...explanation,
    run: explanation.run === null ? null : runRead(explanation.run),
    mismatches: [...explanation.mismatches],
  };
}

/** Longest input or output of a span of the sample, in characters. */
const MAX_TEXT = 2_000;

export function judgePreviewRead(preview: JudgePreview): JudgePreviewRead {
  const { not_runnable_reason, since, sample, tried, other_kinds, ...figures } = preview;
  return {
    runnable: not_runnable_reason === null,
    not_runnable_reason: not_runnable_reason?.text ?? null,
    since: formatTimestamp(since),
    ...figures,
    other_kinds: [...other_kinds],
    sample: sample.map(sampleRead),
    tried: tried.map(triedRead),
  };
}

function sampleRead(span: JudgePreview['sample'][number]): JudgePreviewRead['sample'][number] {
  const { id, trace_id, name, kind, started_at, whole } = span;
  const subject = { subject_id: whole?.id ?? null, outline: excerptOf(whole?.outline ?? null, MAX_TEXT) };
  const input = excerptOf(span.input?.text ?? null, MAX_TEXT);
  const output = excerptOf(span.output?.text ?? null, MAX_TEXT);
  const texts = { input_data: input, output_data: output, input, output };
  return { id, trace_id, ...subject, name, kind, started_at: formatTimestamp(started_at), ...texts };
}

function triedRead({ span, mismatches, request, ...rest }: JudgePreview['tried'][number]) {
  return {
    span_id: span.id,
    subject_id: span.whole?.id ?? null,
    mismatches: [...mismatches],
    request: request && {
      model: request.model,
      temperature: request.temperature,
      messages: request.messages.map(({ role, content }) => ({ role, content })),
      schema: request.schema?.schema ?? null,
    },
    ...rest,
  };
}
