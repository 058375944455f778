-- Projects take turns: what is due of one project is found without passing over what is queued of others.
CREATE INDEX judge_runs_due_of_project ON judge_runs (project_id, next_attempt_at, seq) WHERE state = 'queued';

-- How far the arrived spans of a project were looked at, once any were; before that, as far as `judge_feed` says.
CREATE TABLE judge_feed_projects (
  project_id TEXT PRIMARY KEY,
  arrived_at INTEGER NOT NULL -- of the last span that was looked at
) STRICT, WITHOUT ROWID;
