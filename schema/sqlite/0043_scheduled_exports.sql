-- Exports of lists to the operator's bucket, every so often. Each object has the rows whose versions lie behind `exported_to`. It is named
-- before it is uploaded, with the version that it reaches to: what is cut off is made again under the same name.
CREATE TABLE scheduled_exports (
  seq           INTEGER PRIMARY KEY AUTOINCREMENT,
  id            TEXT NOT NULL UNIQUE,
  project_id    TEXT NOT NULL REFERENCES projects (id),
  name          TEXT NOT NULL,
  list          TEXT NOT NULL CHECK (list IN ('spans', 'traces')),
  query         TEXT NOT NULL, -- filters and fields, as in the URL of the list
  format        TEXT NOT NULL CHECK (format IN ('jsonl', 'csv', 'parquet')),
  every_minutes INTEGER NOT NULL,
  paused        INTEGER NOT NULL CHECK (paused IN (0, 1)),
  exported_to   INTEGER NOT NULL, -- version up to which everything is in objects
  object        TEXT, -- name of the object under way; null: there is none
  object_to     INTEGER, -- version that it reaches to
  next_at       INTEGER NOT NULL,
  objects       INTEGER NOT NULL DEFAULT 0,
  rows          INTEGER NOT NULL DEFAULT 0,
  last_object   TEXT,
  last_at       INTEGER, -- when that was uploaded
  failures      INTEGER NOT NULL DEFAULT 0, -- in a row
  error         TEXT, -- of the last attempt; null: it did not fail
  created_at    INTEGER NOT NULL,
  created_by    TEXT NOT NULL REFERENCES users (id)
) STRICT;

CREATE INDEX scheduled_exports_by_project ON scheduled_exports (project_id, seq);
CREATE INDEX scheduled_exports_due ON scheduled_exports (next_at) WHERE paused = 0;
CREATE INDEX scheduled_exports_by_user ON scheduled_exports (created_by);
