-- Judges and what they found. Times are microseconds since 1970, UTC; ids are lower-case UUIDs.

-- A deleted judge is kept, so that its evaluations stay readable.
CREATE TABLE judges (
  id              TEXT PRIMARY KEY,
  project_id      TEXT NOT NULL REFERENCES projects (id),
  name            TEXT NOT NULL,
  task_slug       TEXT NOT NULL, -- of the prompt that holds its instruction
  evaluation_type TEXT NOT NULL CHECK (evaluation_type IN ('binary', 'scored')),
  score_min       REAL,
  score_max       REAL,
  pass_threshold  REAL,
  criteria        TEXT NOT NULL, -- JSON array of {key, label, description}
  model           TEXT, -- null: the model of the prompt version, else the configured one
  temperature     REAL,
  sample_rate     REAL NOT NULL CHECK (sample_rate BETWEEN 0 AND 1),
  filters         TEXT NOT NULL, -- JSON object {kinds, names, tags, prompt_slug}
  enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  judged_since    INTEGER NOT NULL, -- spans that arrived up to here are not judged by themselves: when it was last enabled
  created_at      INTEGER NOT NULL,
  created_by      TEXT NOT NULL REFERENCES users (id),
  updated_at      INTEGER NOT NULL,
  deleted_at      INTEGER,
  CHECK (evaluation_type = 'binary' OR (score_min < score_max AND pass_threshold BETWEEN score_min AND score_max))
) STRICT;

CREATE INDEX judges_by_project ON judges (project_id, created_at, id);

-- One row per evaluation. What the judge was at that moment is kept with it: a judge may change later.
CREATE TABLE evaluations (
  seq                 INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they were stored
  id                  TEXT NOT NULL UNIQUE,
  project_id          TEXT NOT NULL REFERENCES projects (id),
  judge_id            TEXT NOT NULL REFERENCES judges (id),
  span_id             TEXT NOT NULL,
  origin              TEXT NOT NULL CHECK (origin IN ('automatic', 'requested', 'external')),
  evaluation_type     TEXT NOT NULL CHECK (evaluation_type IN ('binary', 'scored')),
  evaluation_result   INTEGER NOT NULL CHECK (evaluation_result IN (0, 1)),
  evaluation_reason   TEXT NOT NULL,
  confidence_score    REAL CHECK (confidence_score BETWEEN 0 AND 1),
  score               REAL,
  score_min           REAL,
  score_max           REAL,
  pass_threshold      REAL,
  criteria_scores     TEXT, -- JSON object: criterion key to {score, reason}
  model_used          TEXT,
  duration_ms         REAL,
  prompt_version_id   TEXT, -- of the instruction it was made with; null when it ran elsewhere
  judge_version       TEXT, -- names the instruction and the set of examples it was made with; null when it ran elsewhere
  created_at          INTEGER NOT NULL -- never less than that of the row before
) STRICT;

-- Holds what lists filter by, so that pages far behind are counted off without reading rows.
CREATE INDEX evaluations_by_judge ON evaluations (judge_id, created_at, seq, evaluation_result, span_id);
CREATE INDEX evaluations_by_span ON evaluations (project_id, span_id, created_at);
-- By itself a judge evaluates a span once.
CREATE UNIQUE INDEX automatic_evaluations ON evaluations (judge_id, span_id) WHERE origin = 'automatic';

-- Evaluations to be made, and those that could not be. One that is made becomes a row of `evaluations` with the same id,
-- in the same transaction in which it leaves this table. Which are being worked on right now only the server knows.
CREATE TABLE judge_runs (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they were queued
  id              TEXT NOT NULL UNIQUE,
  project_id      TEXT NOT NULL,
  judge_id        TEXT NOT NULL REFERENCES judges (id),
  span_id         TEXT NOT NULL,
  trace_id        TEXT NOT NULL,
  span_started_at INTEGER NOT NULL, -- with the ids, where the span is found
  origin          TEXT NOT NULL CHECK (origin IN ('automatic', 'requested')),
  state           TEXT NOT NULL CHECK (state IN ('queued', 'failed')),
  attempts        INTEGER NOT NULL, -- that ended
  next_attempt_at INTEGER NOT NULL,
  reason          TEXT, -- why the last attempt failed
  created_at      INTEGER NOT NULL,
  updated_at      INTEGER NOT NULL
) STRICT;

CREATE INDEX judge_runs_due ON judge_runs (next_attempt_at, seq) WHERE state = 'queued';
CREATE INDEX judge_runs_by_judge ON judge_runs (judge_id, state, seq);
CREATE INDEX judge_runs_by_span ON judge_runs (judge_id, span_id);
CREATE UNIQUE INDEX automatic_judge_runs ON judge_runs (judge_id, span_id) WHERE origin = 'automatic';

-- How far the arrived spans were looked at: one row. Spans that arrived up to `began_at` came while judges could not run.
CREATE TABLE judge_feed (
  id         INTEGER PRIMARY KEY CHECK (id = 1),
  began_at   INTEGER NOT NULL,
  arrived_at INTEGER NOT NULL -- of the last span that was looked at
) STRICT;
