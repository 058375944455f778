-- What judges learn from people, and the jobs that measure it. Times are microseconds since 1970, UTC.

-- What one user said of one evaluation. Said again of the same evaluation it is replaced; said of a later evaluation of the
-- span it is another row, so that evidence about the earlier one stays. Kept by the triggers below.
CREATE TABLE judge_statements (
  feedback_id       TEXT NOT NULL REFERENCES feedback (id) ON DELETE CASCADE,
  judge_id          TEXT NOT NULL,
  span_id           TEXT NOT NULL,
  user_id           TEXT NOT NULL,
  evaluation_seq    INTEGER REFERENCES evaluations (seq), -- null: the judge had not evaluated the span
  revision          INTEGER NOT NULL, -- of the judge's examples, counted from 1: the one that this statement made
  thumbs_up         INTEGER NOT NULL,
  reason            TEXT,
  expected_output   TEXT,
  expected_score    REAL,
  score_direction   TEXT,
  criteria_feedback TEXT,
  given_at          INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX judge_statements_by_feedback ON judge_statements (feedback_id, coalesce(evaluation_seq, 0));
CREATE INDEX judge_statements_by_revision ON judge_statements (judge_id, revision);
CREATE INDEX judge_statements_by_span ON judge_statements (judge_id, span_id, revision);

CREATE TRIGGER feedback_is_stated AFTER INSERT ON feedback WHEN NEW.judge_id IS NOT NULL
BEGIN
  INSERT INTO judge_statements
  SELECT NEW.id, NEW.judge_id, NEW.completion_id, NEW.user_id, latest.seq,
    ifnull((SELECT max(revision) FROM judge_statements WHERE judge_id = NEW.judge_id), 0) + (latest.seq IS NOT NULL),
    NEW.thumbs_up, NEW.reason, NEW.expected_output, NEW.expected_score, NEW.score_direction, NEW.criteria_feedback,
    NEW.updated_at
  FROM (SELECT max(seq) AS seq FROM evaluations
    WHERE project_id = NEW.project_id AND span_id = NEW.completion_id AND judge_id = NEW.judge_id) AS latest;
END;

CREATE TRIGGER feedback_is_restated AFTER UPDATE ON feedback WHEN NEW.judge_id IS NOT NULL
BEGIN
  INSERT INTO judge_statements
  SELECT NEW.id, NEW.judge_id, NEW.completion_id, NEW.user_id, latest.seq,
    ifnull((SELECT max(revision) FROM judge_statements WHERE judge_id = NEW.judge_id), 0) + (latest.seq IS NOT NULL),
    NEW.thumbs_up, NEW.reason, NEW.expected_output, NEW.expected_score, NEW.score_direction, NEW.criteria_feedback,
    NEW.updated_at
  FROM (SELECT max(seq) AS seq FROM evaluations
    WHERE project_id = NEW.project_id AND span_id = NEW.completion_id AND judge_id = NEW.judge_id) AS latest
  WHERE true
  ON CONFLICT (feedback_id, coalesce(evaluation_seq, 0)) DO UPDATE SET
    revision = excluded.revision, thumbs_up = excluded.thumbs_up, reason = excluded.reason,
    expected_output = excluded.expected_output, expected_score = excluded.expected_score,
    score_direction = excluded.score_direction, criteria_feedback = excluded.criteria_feedback, given_at = excluded.given_at
  -- A client's retry says nothing new.
  WHERE (thumbs_up, reason, expected_output, expected_score, score_direction, criteria_feedback) IS NOT
    (excluded.thumbs_up, excluded.reason, excluded.expected_output, excluded.expected_score, excluded.score_direction,
     excluded.criteria_feedback);
  -- What was said before there was an evaluation is said of this one now.
  DELETE FROM judge_statements WHERE feedback_id = NEW.id AND evaluation_seq IS NULL
    AND EXISTS (SELECT 1 FROM judge_statements WHERE feedback_id = NEW.id AND evaluation_seq IS NOT NULL);
END;

-- Versions of judges that evaluations were made with, as `evaluations.judge_version` names them.
CREATE TABLE judge_versions (
  judge_id          TEXT NOT NULL,
  judge_version     TEXT NOT NULL,
  prompt_version_id TEXT,
  first_seq         INTEGER NOT NULL, -- of its first evaluation
  began_at          INTEGER NOT NULL, -- when that was stored
  evaluations       INTEGER NOT NULL,
  PRIMARY KEY (judge_id, judge_version)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER evaluation_has_version AFTER INSERT ON evaluations WHEN NEW.judge_version IS NOT NULL
BEGIN
  INSERT INTO judge_versions VALUES (NEW.judge_id, NEW.judge_version, NEW.prompt_version_id, NEW.seq, NEW.created_at, 1)
  ON CONFLICT DO UPDATE SET evaluations = evaluations + 1;
END;

-- Long work that goes on after a restart.
CREATE TABLE jobs (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they were made
  id          TEXT NOT NULL UNIQUE,
  project_id  TEXT NOT NULL REFERENCES projects (id),
  kind        TEXT NOT NULL,
  subject_id  TEXT NOT NULL, -- what it is about: a judge, a prompt
  state       TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
  phase       TEXT, -- what it is at
  total       INTEGER, -- steps; null: not known yet
  done        INTEGER NOT NULL,
  summary     TEXT NOT NULL, -- JSON: what lists show of it
  input       TEXT NOT NULL, -- JSON: all that the work depends on, as it was when the job was made
  result      TEXT, -- JSON, when it is done
  error       TEXT,
  created_at  INTEGER NOT NULL,
  created_by  TEXT NOT NULL REFERENCES users (id),
  finished_at INTEGER
) STRICT;

CREATE INDEX jobs_by_subject ON jobs (project_id, kind, subject_id, seq);
CREATE INDEX jobs_unfinished ON jobs (seq) WHERE finished_at IS NULL;

-- What the steps of a job came to, so that none that is finished is done again.
CREATE TABLE job_steps (
  job_id TEXT NOT NULL REFERENCES jobs (id),
  step   TEXT NOT NULL,
  result TEXT NOT NULL, -- JSON
  PRIMARY KEY (job_id, step)
) STRICT, WITHOUT ROWID;

-- Candidates of optimisations that became versions of their prompts.
CREATE TABLE promotions (
  job_id       TEXT NOT NULL REFERENCES jobs (id),
  candidate_id TEXT NOT NULL,
  version      INTEGER NOT NULL,
  promoted_at  INTEGER NOT NULL,
  promoted_by  TEXT NOT NULL REFERENCES users (id),
  PRIMARY KEY (job_id, candidate_id)
) STRICT, WITHOUT ROWID;
