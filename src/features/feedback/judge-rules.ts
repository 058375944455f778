import type { Issue } from '../../engine/errors.js';
import type { FeedbackJudge } from './judge-lookup.js';
import type { FeedbackInput } from './schema.js';

const MAX_LISTED_KEYS = 50;

/** Issues with the thumb, which feedback on a judge may give by either of its names. */
export function thumbIssues({
  thumbs_up,
  judge_was_right,
  judge_id,
}: Pick<FeedbackInput, 'thumbs_up' | 'judge_was_right' | 'judge_id'>): Issue[] {
  const issue = (detail: string) => [{ pointer: '/judge_was_right', detail }];
  if (judge_id == null) {
    if (judge_was_right != null) return issue('requires judge_id; without a judge, send thumbs_up');
    return thumbs_up == null ? [{ pointer: '/thumbs_up', detail: 'is required' }] : [];
  }
  if (thumbs_up == null && judge_was_right == null)
    return issue('is required, unless thumbs_up says whether the judge was right');
  const differ = thumbs_up != null && judge_was_right != null && thumbs_up !== judge_was_right;
  return differ ? issue('must equal thumbs_up, or be the only one of the two') : [];
}

type ScoreFields = Pick<FeedbackInput, 'expected_score' | 'score_direction' | 'criteria_feedback'>;

/** Issues with scores and criteria that do not fit the judge, or are given without a judge. */
export function scoreIssues(input: ScoreFields, judge: FeedbackJudge | null): Issue[] {
  if (judge?.evaluation_type !== 'scored') return unscoredIssues(input, judge);
  const { expected_score, criteria_feedback } = input;
  return [
    ...rangeIssues('/expected_score', expected_score, judge),
    ...Object.entries(criteria_feedback ?? {}).flatMap(([key, feedback]) => {
      const pointer = `/criteria_feedback/${escaped(key)}`;
      if (!judge.criteria.some((criterion) => criterion.key === key))
        return [{ pointer, detail: `is not a criterion of this judge; it has ${listed(judge)}` }];
      if (feedback.expected_score == null && feedback.reason == null)
        return [{ pointer, detail: 'must have an expected_score or a reason' }];
      return rangeIssues(`${pointer}/expected_score`, feedback.expected_score, judge);
    }),
  ];
}

function unscoredIssues(input: ScoreFields, judge: FeedbackJudge | null): Issue[] {
  const given = {
    expected_score: input.expected_score != null,
    score_direction: input.score_direction != null,
    criteria_feedback: Object.keys(input.criteria_feedback ?? {}).length > 0,
  };
  const reason =
    judge === null ? 'requires the judge_id of a scored judge' : 'applies only to scored judges; this judge is binary';
  return Object.entries(given).flatMap(([name, is]) => (is ? [{ pointer: `/${name}`, detail: reason }] : []));
}

function rangeIssues(pointer: string, score: number | null | undefined, judge: FeedbackJudge): Issue[] {
  const [min, max] = [judge.score_min ?? -Infinity, judge.score_max ?? Infinity];
  if (score == null || (score >= min && score <= max)) return [];
  return [{ pointer, detail: `must be between ${min} and ${max}` }];
}

function listed({ criteria }: FeedbackJudge): string {
  if (criteria.length === 0) return 'none';
  const keys = criteria.slice(0, MAX_LISTED_KEYS).map(({ key }) => key);
  return keys.join(', ') + (criteria.length > keys.length ? `, and ${criteria.length - keys.length} more` : '');
}

/** The key as a token of a JSON pointer, cut to a readable length. */
function escaped(key: string): string {
  return key.slice(0, 100).replaceAll('~', '~0').replaceAll('/', '~1');
}
