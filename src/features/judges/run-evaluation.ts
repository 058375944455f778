import type { JudgedSpan } from '../../engine/traces/model/judged/span-reader.js';
import type { Evaluation, Verdict } from './evaluation.js';
import type { Judge } from './judge.js';
import type { Judgement } from './judge-caller.js';
import type { Run } from './run.js';

/** The evaluation that a run comes to. @param span as the judge was shown it */
export function evaluationOf(
  run: Run,
  judge: Judge,
  span: JudgedSpan,
  { judgement, verdict }: { readonly judgement: Judgement; readonly verdict: Verdict },
): Omit<Evaluation, 'created_at'> {
  return {
    ...verdict,
    id: run.id,
    project_id: run.project_id,
    judge_id: run.judge_id,
    ...subjectOf(run, span),
    origin: run.origin,
    evaluation_type: judge.evaluation_type,
    score_min: judge.score_min,
    score_max: judge.score_max,
    pass_threshold: judge.pass_threshold,
    model_used: judgement.model_used,
    duration_ms: judgement.duration_ms,
    prompt_version_id: judgement.prompt_version_id,
    judge_version: judgement.judge_version,
    row_key: judgement.row_key,
  };
}

/** What was evaluated. Which span stands for a trace or session is known only once it was read. */
function subjectOf({ span_id, trace_id }: Run, { whole, ...span }: JudgedSpan) {
  if (whole == null) return { span_id, trace_id };
  return { span_id: span.id, trace_id: span.trace_id, subject_id: whole.id, subject_upto: whole.arrived_at };
}
