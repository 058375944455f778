import type { MetadataPart } from '../parts.js';
import { counted, person, plain, type Source } from './source.js';

const SAID = `t.thumbs_up, t.reason, t.expected_output, t.expected_score, t.score_direction, t.criteria_feedback`;
const GIVEN_FIELDS = `${SAID}, t.metadata, t.created_at, t.updated_at, ${person('t.user_id')} AS created_by,
      (SELECT g.link_id FROM feedback_guests AS g WHERE g.user_id = t.user_id LIMIT 1) AS feedback_link_id`;
const GIVEN = {
  keys: ['t.created_at', 't.id'],
  json: ['criteria_feedback', 'metadata', 'created_by'],
  flags: ['thumbs_up'],
};

/** Where the records of feedback, its links and its corrections are read. */
export const feedbackSources = {
  feedback_links: {
    ...plain,
    by: 'project',
    select: `t.id, t.prompt_id, iif(t.spans IS NULL, t.link_type, 'span') AS link_type, t.spans AS span_ids, t.created_at,
      ${person('t.created_by')} AS created_by, t.expires_at, t.revoked_at`,
    from: 'feedback_links AS t',
    where: 't.project_id = @group AND t.created_at <= @asOf',
    keys: ['t.created_at', 't.id'],
    json: ['created_by', 'span_ids'],
  },
  feedback: {
    ...GIVEN,
    by: 'prompt',
    select: `t.id, t.prompt_id, t.completion_id, t.judge_id, ${GIVEN_FIELDS}`,
    from: 'feedback AS t INDEXED BY feedback_of_prompt',
    where: 't.prompt_id = @group AND t.created_at <= @asOf',
  },
  span_feedback: {
    ...GIVEN,
    by: 'project',
    select: `t.id, t.completion_id, ${GIVEN_FIELDS}`,
    from: 'feedback AS t INDEXED BY feedback_of_no_prompt',
    where: 't.project_id = @group AND t.prompt_id IS NULL AND t.created_at <= @asOf',
  },
  // One that was given anew since belongs to feedback that was there: when it was given says nothing.
  corrections: {
    by: 'judge',
    select: `t.feedback_id, e.id AS evaluation_id, ${counted('t.revision')} AS revision, ${SAID}, t.given_at`,
    from: `corrections AS t JOIN feedback AS f ON f.id = t.feedback_id
      LEFT JOIN evaluations AS e ON e.seq = t.evaluation_seq`,
    where: 't.judge_id = @group',
    until: 'f.created_at <= @asOf AND ifnull(e.created_at, 0) <= @asOf',
    keys: ['t.revision', 't.rowid'],
    json: ['criteria_feedback'],
    flags: ['thumbs_up'],
  },
} satisfies Partial<Record<MetadataPart, Source>>;
