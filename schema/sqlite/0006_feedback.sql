-- What people say of completions and of evaluations. Times are microseconds since 1970, UTC; ids are lower-case UUIDs.

-- Links that let people without an account review completions of a prompt. The token in a link's URL has 256 random bits
-- and is never stored: `token_hash` is its SHA-256.
CREATE TABLE feedback_links (
  id         TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id),
  prompt_id  TEXT NOT NULL REFERENCES prompts (id),
  link_type  TEXT NOT NULL CHECK (link_type = 'prompt_completion'),
  token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL REFERENCES users (id),
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT;

CREATE INDEX feedback_links_by_project ON feedback_links (project_id, created_at, id);

-- Reviewers who gave a name on a link: users without email. The same name on the same link is the same user.
CREATE TABLE feedback_guests (
  link_id  TEXT NOT NULL REFERENCES feedback_links (id),
  name_key TEXT NOT NULL, -- the name, normalised and in lower case
  user_id  TEXT NOT NULL REFERENCES users (id),
  PRIMARY KEY (link_id, name_key)
) STRICT, WITHOUT ROWID;

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
