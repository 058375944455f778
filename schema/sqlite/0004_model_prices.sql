-- Prices of a project's own, in US dollars per million tokens; they come before list prices. Names differ by more than case.
CREATE TABLE model_prices (
  project_id             TEXT NOT NULL REFERENCES projects (id),
  provider               TEXT NOT NULL COLLATE NOCASE,
  model                  TEXT NOT NULL COLLATE NOCASE,
  input_per_million      REAL NOT NULL CHECK (input_per_million >= 0),
  output_per_million     REAL NOT NULL CHECK (output_per_million >= 0),
  cache_read_per_million REAL CHECK (cache_read_per_million >= 0), -- null: as other input
  created_at             INTEGER NOT NULL,
  updated_at             INTEGER NOT NULL,
  PRIMARY KEY (project_id, provider, model)
) STRICT, WITHOUT ROWID;

-- Recalculations of stored costs. What is done is done up to and with the span at `after_*`, in the order of these columns.
CREATE TABLE reprice_jobs (
  seq              INTEGER PRIMARY KEY AUTOINCREMENT,
  id               TEXT NOT NULL UNIQUE,
  project_id       TEXT NOT NULL REFERENCES projects (id),
  started_after    INTEGER,
  started_before   INTEGER,
  provider         TEXT,
  model            TEXT,
  status           TEXT NOT NULL CHECK (status IN ('queued', 'running', 'done', 'failed')),
  total            INTEGER, -- spans to look at, counted when it began
  examined         INTEGER NOT NULL,
  changed          INTEGER NOT NULL,
  after_started_at INTEGER,
  after_trace_id   TEXT,
  after_id         TEXT,
  error            TEXT,
  created_at       INTEGER NOT NULL,
  finished_at      INTEGER
) STRICT;

CREATE INDEX reprice_jobs_by_project ON reprice_jobs (project_id, seq);
CREATE INDEX reprice_jobs_unfinished ON reprice_jobs (seq) WHERE finished_at IS NULL;
