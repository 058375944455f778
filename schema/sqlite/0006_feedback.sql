-- What people say of completions and of evaluations. Times are microseconds since 1970, UTC; ids are lower-case UUIDs.

CREATE TABLE feedback (
  id                TEXT PRIMARY KEY,
  project_id        TEXT NOT NULL REFERENCES projects (id),
  prompt_id         TEXT NOT NULL REFERENCES prompts (id),
  completion_id     TEXT NOT NULL, -- id of the span
  user_id           TEXT NOT NULL REFERENCES users (id),
  judge_id          TEXT REFERENCES judges (id), -- feedback on what this judge found; null: on the completion itself
  thumbs_up         INTEGER NOT NULL CHECK (thumbs_up IN (0, 1)),
  reason            TEXT,
  expected_output   TEXT,
  metadata          TEXT NOT NULL, -- JSON object
  expected_score    REAL,
  score_direction   TEXT CHECK (score_direction IN ('too_high', 'too_low')),
  criteria_feedback TEXT, -- JSON object: criterion key to {expected_score, reason}
  created_at        INTEGER NOT NULL,
  updated_at        INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX feedback_by_completion ON feedback (project_id, completion_id, user_id, coalesce(judge_id, ''));
CREATE INDEX feedback_by_judge ON feedback (judge_id, completion_id) WHERE judge_id IS NOT NULL;
CREATE INDEX feedback_by_prompt ON feedback (prompt_id, updated_at);
