import type { StoredFeedback } from '../feedback.js';
import type { ListedFeedback } from '../feedback-lists.js';
import type { AuthoredFeedback } from '../feedback-pages.js';
import type { AuthoredFeedbackRead, ListedFeedbackRead } from '../list-schema.js';
import type { FeedbackRead } from '../schema.js';
import type { EvaluationItem, HumanItem, UnifiedItem } from '../unified-items.js';
import type { UnifiedItemRead } from '../unified-schema.js';
import type { RecordedCompletion } from '../../../engine/traces/model/prompts/completion-store.js';
import { formatTimestamp } from '../../../engine/timestamp.js';

export function feedbackRead({
  project_id: _project,
  user_id: _user,
  created_at,
  updated_at,
  ...feedback
}: StoredFeedback): FeedbackRead {
  return {
    ...feedback,
    judge_was_right: judgeWasRight(feedback),
    created_at: formatTimestamp(created_at),
    updated_at: formatTimestamp(updated_at),
  };
}

/** What the thumb says of the judge, where it is about one. */
function judgeWasRight({ judge_id, thumbs_up }: Pick<StoredFeedback, 'judge_id' | 'thumbs_up'>): boolean | null {
  return judge_id === null ? null : thumbs_up;
}

export function authoredFeedbackRead({ feedback, author, link_id }: AuthoredFeedback): AuthoredFeedbackRead {
  return { ...feedbackRead(feedback), created_by: author, link_id };
}

export function listedFeedbackRead(item: ListedFeedback): ListedFeedbackRead {
  const { prompt_version, completion } = item;
  return {
    ...authoredFeedbackRead(item),
    prompt_version,
    ...(completion === undefined ? {} : { completion: completion && completionRead(completion) }),
  };
}

function completionRead({
  started_at,
  ...completion
}: RecordedCompletion): NonNullable<ListedFeedbackRead['completion']> {
  return { ...completion, started_at: formatTimestamp(started_at) };
}

export function unifiedItemRead(item: UnifiedItem): UnifiedItemRead {
  return item.kind === 'human_feedback' ? humanItemRead(item) : evaluationItemRead(item);
}

function humanItemRead({ feedback, author }: HumanItem): UnifiedItemRead {
  const { expected_output, judge_id, expected_score, score_direction, criteria_feedback } = feedback;
  return {
    kind: 'human_feedback',
    id: feedback.id,
    span_id: feedback.completion_id,
    thumbs_up: feedback.thumbs_up,
    judge_was_right: judgeWasRight(feedback),
    reason: feedback.reason,
    ...(expected_output === null ? {} : { expected_output }),
    created_at: formatTimestamp(feedback.created_at),
    updated_at: formatTimestamp(feedback.updated_at),
    created_by: { id: author.id, email: author.email, name: author.name },
    source_type: judge_id === null ? 'human' : 'judge',
    ...(judge_id === null ? {} : { judge_id }),
    ...(expected_score === null ? {} : { expected_score }),
    ...(score_direction === null ? {} : { score_direction }),
    ...(criteria_feedback === null ? {} : { criteria_feedback }),
  };
}

function evaluationItemRead({ evaluation }: EvaluationItem): UnifiedItemRead {
  return {
    kind: 'judge_evaluation',
    id: evaluation.id,
    span_id: evaluation.span_id,
    automation_id: evaluation.judge_id,
    judge_name: evaluation.judge_name,
    evaluation_result: evaluation.evaluation_result,
    evaluation_reason: evaluation.evaluation_reason,
    confidence_score: evaluation.confidence_score,
    model_used: evaluation.model_used,
    evaluation_duration_ms: evaluation.duration_ms,
    evaluation_type: evaluation.evaluation_type,
    ...(evaluation.evaluation_type === 'binary'
      ? {}
      : {
          score: evaluation.score,
          score_min: evaluation.score_min,
          score_max: evaluation.score_max,
          pass_threshold: evaluation.pass_threshold,
          criteria_scores: evaluation.criteria_scores ?? {},
        }),
    created_at: formatTimestamp(evaluation.created_at),
  };
}
