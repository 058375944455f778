import { randomBytes } from 'node:crypto';
import type { Database } from '../../../engine/metadata/database.js';
import { LAST_DELETION } from '../../../engine/metadata/deletion-numbers.js';
import type { MetadataPart } from '../parts.js';
import { insertion, ownership } from './insertion.js';
import { bit, missing, text, type By, type Take, type Values } from './take.js';

/** How the records of feedback, its links and its corrections are stored. */
export function feedbackTakers(db: Database, by: By) {
  return {
    feedback_links: linkTaker(db, by),
    ...givenTakers(db, by),
    corrections: correctionTaker(db),
  } satisfies Partial<Record<MetadataPart, Take>>;
}

function linkTaker(db: Database, by: By): Take {
  const hasPrompt = ownership(db, 'prompts');
  const link = insertion(
    db,
    'feedback_links',
    [
      ...['id', 'project_id', 'prompt_id', 'link_type', 'spans', 'token_hash', 'created_at', 'created_by'],
      ...['expires_at', 'revoked_at'],
    ],
    'project_id',
  );
  return (projectId, { span_ids: spans = null, ...record }) => {
    if (record['prompt_id'] === null ? spans === null : !hasPrompt(projectId, record['prompt_id']))
      return missing('prompt_id', 'prompt');
    return link(record['id'], projectId, () => ({
      ...record,
      link_type: 'prompt_completion',
      spans: record['prompt_id'] === null ? text(spans) : null,
      created_by: by(projectId, record['created_by']),
      // Nobody knows a token with this hash.
      token_hash: randomBytes(32),
    }));
  };
}

/** Feedback of people, with a prompt and without. */
function givenTakers(db: Database, by: By) {
  const [hasPrompt, hasJudge, hasLink] = [
    ownership(db, 'prompts'),
    ownership(db, 'judges'),
    ownership(db, 'feedback_links'),
  ];
  // Whoever has a key is no guest, whatever a record says: guests go with their links.
  const guest = db.prepare<Values>(
    `INSERT INTO feedback_guests (link_id, guest_key, user_id)
     SELECT @link, @key, @user
     WHERE NOT EXISTS (SELECT 1 FROM api_keys WHERE project_id = @projectId AND user_id = @user)
       AND NOT EXISTS (SELECT 1 FROM feedback_guests WHERE user_id = @user)
     ON CONFLICT DO NOTHING`,
  );
  const give = insertion(
    db,
    'feedback',
    [
      ...['id', 'project_id', 'prompt_id', 'completion_id', 'user_id', 'judge_id', 'thumbs_up', 'reason'],
      ...['expected_output', 'metadata', 'expected_score', 'score_direction', 'criteria_feedback', 'created_at'],
      'updated_at',
    ],
    'project_id',
    { after_deletion: LAST_DELETION },
  );
  const given: Take = (projectId, { created_by, feedback_link_id, ...record }) => {
    if (feedback_link_id !== null && !hasLink(projectId, feedback_link_id))
      return missing('feedback_link_id', 'feedback link');
    return give(record['id'], projectId, () => {
      const user_id = by(projectId, created_by);
      const key = `imported/${user_id}`;
      if (feedback_link_id !== null) guest.run({ projectId, link: feedback_link_id, key, user: user_id });
      const [metadata, criteria_feedback] = [text(record['metadata']), text(record['criteria_feedback'])];
      return { ...record, user_id, metadata, criteria_feedback, thumbs_up: bit(record['thumbs_up']) };
    });
  };
  return {
    feedback(projectId, record) {
      if (!hasPrompt(projectId, record['prompt_id'])) return missing('prompt_id', 'prompt');
      if (record['judge_id'] !== null && !hasJudge(projectId, record['judge_id'])) return missing('judge_id', 'judge');
      return given(projectId, record);
    },
    span_feedback: (projectId, record) => given(projectId, { ...record, prompt_id: null, judge_id: null }),
  } satisfies Partial<Record<MetadataPart, Take>>;
}

function correctionTaker(db: Database): Take {
  const isJudged = db
    .prepare<[unknown, string], number>(
      'SELECT 1 FROM feedback WHERE id = ? AND project_id = ? AND judge_id IS NOT NULL',
    )
    .pluck();
  const isEvaluated = db
    .prepare<Values, number>(
      `SELECT 1 FROM evaluations AS e JOIN feedback AS f ON f.judge_id = e.judge_id
       WHERE e.id = @evaluation_id AND f.id = @feedback_id`,
    )
    .pluck();
  const correct = db.prepare<Values>(
    `INSERT INTO corrections (feedback_id, judge_id, span_id, user_id, evaluation_seq, revision, thumbs_up, reason,
       expected_output, expected_score, score_direction, criteria_feedback, given_at)
     SELECT f.id, f.judge_id, f.completion_id, f.user_id, (SELECT seq FROM evaluations WHERE id = @evaluation_id),
       @revision, @thumbs_up, @reason, @expected_output, @expected_score, @score_direction, @criteria_feedback, @given_at
     FROM feedback AS f WHERE f.id = @feedback_id
     ON CONFLICT (feedback_id, coalesce(evaluation_seq, 0)) DO NOTHING`,
  );
  const advance = db.prepare<Values>(
    `INSERT INTO correction_sets (judge_id, revision, last_removal)
     SELECT judge_id, @revision, 0 FROM feedback WHERE id = @feedback_id
     ON CONFLICT (judge_id) DO UPDATE SET revision = max(revision, excluded.revision)`,
  );
  return (projectId, record) => {
    if (isJudged.get(record['feedback_id'], projectId) !== 1)
      return missing('feedback_id', "feedback on a judge's evaluation");
    if (record['evaluation_id'] !== null && isEvaluated.get(record) !== 1)
      return missing('evaluation_id', 'evaluation');
    const criteria_feedback = text(record['criteria_feedback']);
    const stored = correct.run({ ...record, criteria_feedback, thumbs_up: bit(record['thumbs_up']) }).changes > 0;
    if (stored) advance.run(record);
    return stored;
  };
}
