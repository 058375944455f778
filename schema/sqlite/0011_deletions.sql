-- Deletions, written down before anything is deleted: what a crash cuts off is completed by the next start. Times are
-- microseconds since 1970, UTC; ids are lower-case UUIDs.
CREATE TABLE deletions (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id  TEXT NOT NULL,
  what        TEXT NOT NULL CHECK (what IN ('spans', 'project')),
  target      TEXT NOT NULL, -- what was named: span/<id>, trace/<id>, session/<id>, project
  ordered     INTEGER NOT NULL CHECK (ordered IN (0, 1)), -- 0: its items are still being written down
  upto        INTEGER NOT NULL, -- span versions taken in later are other spans, sent again
  created_at  INTEGER NOT NULL
) STRICT;

CREATE UNIQUE INDEX deletions_of_projects ON deletions (project_id) WHERE what = 'project';
CREATE INDEX deletions_of_targets ON deletions (project_id, target);

-- What a deletion deletes in the store of spans, and what it has to remember of what it deleted here.
CREATE TABLE deletion_items (
  seq        INTEGER PRIMARY KEY,
  deletion   INTEGER NOT NULL REFERENCES deletions (seq) ON DELETE CASCADE,
  -- span, trace, session: as it was named or found below; run: an evaluation whose calls are spans; shown: a span that the
  -- judge `trace_id` may have been shown as an example; call: the span of a call that goes too
  kind       TEXT NOT NULL CHECK (kind IN ('span', 'trace', 'session', 'run', 'shown', 'call')),
  trace_id   TEXT NOT NULL,
  id         TEXT NOT NULL,
  started_at INTEGER NOT NULL -- of a span or call; else 0
) STRICT;

CREATE INDEX deletion_items_in_order ON deletion_items (deletion, kind, seq);

-- Evaluations whose calls are stored as spans, and that neither a run nor an evaluation tells of any more.
CREATE TABLE judge_calls (
  run_id     TEXT PRIMARY KEY,
  project_id TEXT NOT NULL,
  span_id    TEXT NOT NULL,
  created_at INTEGER NOT NULL -- of the run
) STRICT, WITHOUT ROWID;

CREATE INDEX judge_calls_by_span ON judge_calls (project_id, span_id);

CREATE TRIGGER run_made_calls AFTER DELETE ON judge_runs WHEN OLD.attempts > 0
BEGIN
  INSERT INTO judge_calls VALUES (OLD.id, OLD.project_id, OLD.span_id, OLD.created_at) ON CONFLICT DO NOTHING;
END;

-- The spans whose inputs, outputs or feedback a job works with.
CREATE TABLE job_spans (
  span_id TEXT NOT NULL,
  job_id  TEXT NOT NULL REFERENCES jobs (id),
  PRIMARY KEY (span_id, job_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_spans_by_job ON job_spans (job_id);

CREATE TRIGGER job_works_with AFTER INSERT ON jobs
BEGIN
  INSERT INTO job_spans
  SELECT value ->> 'span_id', NEW.id FROM (
    SELECT value FROM json_each(NEW.input, '$.held_out') UNION ALL SELECT value FROM json_each(NEW.input, '$.training')
  )
  WHERE value ->> 'span_id' IS NOT NULL
  ON CONFLICT DO NOTHING;
END;

INSERT INTO job_spans
SELECT DISTINCT value ->> 'span_id', id FROM (
  SELECT jobs.id, each.value FROM jobs, json_each(jobs.input, '$.held_out') AS each
  UNION ALL
  SELECT jobs.id, each.value FROM jobs, json_each(jobs.input, '$.training') AS each
)
WHERE value ->> 'span_id' IS NOT NULL;

-- The revision of each judge's examples: it grows with every statement that is new, changed or removed, so that it never
-- stands for another set. `removed` is the last one at which a statement went.
CREATE TABLE judge_examples (
  judge_id TEXT PRIMARY KEY,
  revision INTEGER NOT NULL,
  removed  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

INSERT INTO judge_examples SELECT judge_id, max(revision), 0 FROM judge_statements GROUP BY judge_id;

DROP TRIGGER feedback_is_stated;
DROP TRIGGER feedback_is_restated;

CREATE TRIGGER feedback_is_stated AFTER INSERT ON feedback WHEN NEW.judge_id IS NOT NULL
BEGIN
  INSERT INTO judge_statements
  SELECT NEW.id, NEW.judge_id, NEW.completion_id, NEW.user_id, latest.seq,
    ifnull((SELECT revision FROM judge_examples WHERE judge_id = NEW.judge_id), 0) + (latest.seq IS NOT NULL),
    NEW.thumbs_up, NEW.reason, NEW.expected_output, NEW.expected_score, NEW.score_direction, NEW.criteria_feedback,
    NEW.updated_at
  FROM (SELECT max(seq) AS seq FROM evaluations
    WHERE project_id = NEW.project_id AND span_id = NEW.completion_id AND judge_id = NEW.judge_id) AS latest;
END;

CREATE TRIGGER feedback_is_restated AFTER UPDATE ON feedback WHEN NEW.judge_id IS NOT NULL
BEGIN
  INSERT INTO judge_statements
  SELECT NEW.id, NEW.judge_id, NEW.completion_id, NEW.user_id, latest.seq,
    ifnull((SELECT revision FROM judge_examples WHERE judge_id = NEW.judge_id), 0) + (latest.seq IS NOT NULL),
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

CREATE TRIGGER statement_is_counted AFTER INSERT ON judge_statements
BEGIN
  INSERT INTO judge_examples VALUES (NEW.judge_id, NEW.revision, 0)
  ON CONFLICT DO UPDATE SET revision = max(revision, excluded.revision);
END;

CREATE TRIGGER statement_is_recounted AFTER UPDATE OF revision ON judge_statements
BEGIN
  UPDATE judge_examples SET revision = max(revision, NEW.revision) WHERE judge_id = NEW.judge_id;
END;

CREATE TRIGGER statement_is_removed AFTER DELETE ON judge_statements WHEN OLD.evaluation_seq IS NOT NULL
BEGIN
  UPDATE judge_examples SET revision = revision + 1, removed = revision + 1 WHERE judge_id = OLD.judge_id;
END;

CREATE TRIGGER evaluation_leaves_version AFTER DELETE ON evaluations WHEN OLD.judge_version IS NOT NULL
BEGIN
  UPDATE judge_versions SET evaluations = evaluations - 1
  WHERE judge_id = OLD.judge_id AND judge_version = OLD.judge_version;
END;

-- Where a deletion looks, and what SQLite asks before a row goes that others may name.
CREATE INDEX judge_statements_by_evaluation ON judge_statements (evaluation_seq);
CREATE INDEX attachment_namings_by_span ON attachment_namings (span_id);
