-- Datasets: named rows of columns, in versions that never change.
CREATE TABLE datasets (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           TEXT NOT NULL UNIQUE,
  project_id   TEXT NOT NULL REFERENCES projects (id),
  name         TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
  description  TEXT NOT NULL,
  roles        TEXT NOT NULL, -- JSON object: what columns are for, by name
  last_version INTEGER NOT NULL DEFAULT 0, -- of what is published; rows of later numbers are of a version that is being made, or never was
  bytes        INTEGER NOT NULL DEFAULT 0, -- of all contents
  created_at   INTEGER NOT NULL,
  created_by   TEXT NOT NULL REFERENCES users (id),
  updated_at   INTEGER NOT NULL,
  deleted_at   INTEGER -- since when it is being removed, a portion after the other
) STRICT;

CREATE UNIQUE INDEX datasets_by_name ON datasets (project_id, name) WHERE deleted_at IS NULL;
CREATE INDEX datasets_by_project ON datasets (project_id);
CREATE INDEX datasets_by_user ON datasets (created_by);
CREATE INDEX datasets_being_removed ON datasets (deleted_at) WHERE deleted_at IS NOT NULL;

-- Numbered from 1 without gaps.
CREATE TABLE dataset_versions (
  id         TEXT PRIMARY KEY,
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  number     INTEGER NOT NULL CHECK (number >= 1),
  message    TEXT NOT NULL,
  columns    TEXT NOT NULL, -- JSON array of names, in their order
  row_count  INTEGER NOT NULL,
  added      INTEGER NOT NULL, -- rows, beside the version before
  changed    INTEGER NOT NULL,
  removed    INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL REFERENCES users (id),
  UNIQUE (dataset_id, number)
) STRICT;

CREATE INDEX dataset_versions_by_user ON dataset_versions (created_by);

-- What rows say, each once in a dataset. Rows are many: they name datasets and contents by numbers.
CREATE TABLE dataset_contents (
  seq     INTEGER PRIMARY KEY,
  dataset INTEGER NOT NULL REFERENCES datasets (seq),
  hash    BLOB NOT NULL, -- SHA-256 of the JSON with its members sorted
  content TEXT NOT NULL, -- JSON object, by column
  UNIQUE (dataset, hash)
) STRICT;

-- A row as it is from one version on, up to before another.
CREATE TABLE dataset_rows (
  seq            INTEGER PRIMARY KEY,
  dataset        INTEGER NOT NULL REFERENCES datasets (seq),
  row_id         TEXT NOT NULL,
  position       INTEGER NOT NULL, -- rows of a version are in this order
  from_version   INTEGER NOT NULL,
  to_version     INTEGER, -- the first without it; null: none
  content        INTEGER, -- null: erased, as its span was deleted
  trace_id       TEXT, -- the span that it was made of; null: none
  span_id        TEXT,
  after_deletion INTEGER NOT NULL DEFAULT 0, -- the number of the last deletion when it was made
  UNIQUE (dataset, row_id, from_version)
) STRICT;

CREATE INDEX dataset_rows_in_order ON dataset_rows (dataset, position, seq, from_version, to_version);
CREATE INDEX dataset_rows_by_start ON dataset_rows (dataset, from_version);
CREATE INDEX dataset_rows_by_end ON dataset_rows (dataset, to_version) WHERE to_version IS NOT NULL;
CREATE INDEX dataset_rows_by_content ON dataset_rows (content) WHERE content IS NOT NULL;
CREATE INDEX dataset_rows_erased ON dataset_rows (dataset, from_version, to_version) WHERE content IS NULL;
CREATE INDEX dataset_rows_by_span ON dataset_rows (span_id, dataset) WHERE span_id IS NOT NULL AND content IS NOT NULL;

-- Where tags pointed: the latest move of a tag counts.
CREATE TABLE dataset_tag_moves (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  dataset_id TEXT NOT NULL REFERENCES datasets (id),
  tag        TEXT NOT NULL,
  number     INTEGER NOT NULL, -- 0: it was removed
  moved_at   INTEGER NOT NULL,
  moved_by   TEXT NOT NULL REFERENCES users (id)
) STRICT;

CREATE INDEX dataset_tag_moves_by_tag ON dataset_tag_moves (dataset_id, tag, id);
CREATE INDEX dataset_tag_moves_by_user ON dataset_tag_moves (moved_by);
