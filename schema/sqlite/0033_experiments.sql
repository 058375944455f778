-- Experiments: one subject, tried on the rows of one version of a dataset. Their results are spans.
CREATE TABLE experiments (
  seq             INTEGER PRIMARY KEY AUTOINCREMENT,
  id              TEXT NOT NULL UNIQUE,
  project_id      TEXT NOT NULL REFERENCES projects (id),
  name            TEXT NOT NULL,
  dataset_id      TEXT NOT NULL, -- experiments outlive their dataset
  dataset_name    TEXT NOT NULL, -- when the experiment began
  dataset_version INTEGER NOT NULL CHECK (dataset_version >= 1),
  row_count       INTEGER NOT NULL, -- of the version
  repetitions     INTEGER NOT NULL CHECK (repetitions BETWEEN 1 AND 32),
  status          TEXT NOT NULL CHECK (status IN ('running', 'finished', 'canceled')),
  phase           TEXT CHECK (phase IN ('scoring', 'failed')), -- what some clients say beside that
  active_at       INTEGER NOT NULL, -- when it began, went on, or was sent its last result, as far as is noted
  created_at      INTEGER NOT NULL,
  created_by      TEXT NOT NULL REFERENCES users (id),
  finished_at     INTEGER,
  strays          INTEGER NOT NULL DEFAULT 0, -- results of rows that the version does not have, also sent again: there are no more
  deleted_at      INTEGER, -- since when it is being removed, with its results
  subject_commit  TEXT,
  subject_branch  TEXT,
  subject_prompt  TEXT, -- slug
  subject         TEXT NOT NULL, -- JSON object: what was tried
  parameters      TEXT NOT NULL, -- JSON object
  description     TEXT NOT NULL
) STRICT;

CREATE INDEX experiments_in_order ON experiments (project_id, created_at, seq) WHERE deleted_at IS NULL;
CREATE INDEX experiments_by_id ON experiments (project_id, id);
CREATE INDEX experiments_by_dataset ON experiments (dataset_id, id);
CREATE INDEX experiments_by_user ON experiments (created_by);
CREATE INDEX experiments_being_removed ON experiments (deleted_at) WHERE deleted_at IS NOT NULL;

-- Where tags of the experiments of a dataset pointed: the latest move of a tag counts.
CREATE TABLE experiment_tag_moves (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id    TEXT NOT NULL REFERENCES projects (id),
  dataset_id    TEXT NOT NULL,
  tag           TEXT NOT NULL,
  experiment_id TEXT NOT NULL, -- empty: it was removed
  moved_at      INTEGER NOT NULL,
  moved_by      TEXT NOT NULL REFERENCES users (id)
) STRICT;

CREATE INDEX experiment_tag_moves_by_tag ON experiment_tag_moves (project_id, dataset_id, tag, moved_at, id);
CREATE INDEX experiment_tag_moves_by_experiment ON experiment_tag_moves (experiment_id) WHERE experiment_id <> '';
CREATE INDEX experiment_tag_moves_by_user ON experiment_tag_moves (moved_by);

-- Programs of clients that score results.
CREATE TABLE experiment_scorers (
  id             TEXT PRIMARY KEY,
  experiment     INTEGER NOT NULL REFERENCES experiments (seq),
  name           TEXT NOT NULL,
  mode           TEXT NOT NULL CHECK (mode IN ('row', 'column', 'run')),
  code           TEXT NOT NULL,
  description    TEXT NOT NULL,
  outputs        TEXT NOT NULL, -- JSON array of the names of its scores
  output_formats TEXT NOT NULL, -- JSON object: how they are shown, by name
  created_at     INTEGER NOT NULL,
  UNIQUE (experiment, name, mode)
) STRICT;

-- Figures of all results together, as clients computed them.
CREATE TABLE experiment_metrics (
  seq            INTEGER PRIMARY KEY,
  experiment     INTEGER NOT NULL REFERENCES experiments (seq),
  scope          TEXT NOT NULL CHECK (scope IN ('column', 'run')),
  name           TEXT NOT NULL,
  repetition     INTEGER NOT NULL, -- the only one that it is about; 0: all
  results        TEXT NOT NULL, -- JSON object
  output_formats TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  UNIQUE (experiment, scope, name, repetition)
) STRICT;

-- Deletions note rows of datasets that are erased with their span (`row`: `trace_id` is the dataset, `id` the row): results of
-- experiments were made of them, and hold their texts.
CREATE TABLE new_deletion_items (
  seq        INTEGER PRIMARY KEY,
  deletion   INTEGER NOT NULL REFERENCES deletions (seq) ON DELETE CASCADE,
  kind       TEXT NOT NULL CHECK (kind IN ('span', 'trace', 'session', 'run', 'shown', 'row', 'call')),
  trace_id   TEXT NOT NULL,
  id         TEXT NOT NULL,
  started_at INTEGER NOT NULL -- of a span or call; else 0
) STRICT;

INSERT INTO new_deletion_items SELECT seq, deletion, kind, trace_id, id, started_at FROM deletion_items;
DROP TABLE deletion_items;
ALTER TABLE new_deletion_items RENAME TO deletion_items;
CREATE INDEX deletion_items_in_order ON deletion_items (deletion, kind, seq);
