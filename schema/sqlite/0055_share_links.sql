-- Links by which people without an account read one trace. They go with it.
CREATE TABLE share_links (
  id             TEXT PRIMARY KEY,
  project_id     TEXT NOT NULL REFERENCES projects (id),
  trace_id       TEXT NOT NULL,
  left_out       TEXT NOT NULL, -- JSON array: what of the trace is not shown
  token_hash     BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  created_at     INTEGER NOT NULL,
  created_by     TEXT NOT NULL REFERENCES users (id),
  expires_at     INTEGER NOT NULL,
  revoked_at     INTEGER,
  last_used_at   INTEGER,
  uses           INTEGER NOT NULL DEFAULT 0,
  after_deletion INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX share_links_in_order ON share_links (project_id, created_at, id);
CREATE INDEX share_links_of_trace ON share_links (project_id, trace_id, created_at, id);
CREATE INDEX share_links_by_user ON share_links (created_by);

-- Whether links of a project work; no row: they do.
CREATE TABLE share_settings (
  project_id TEXT PRIMARY KEY REFERENCES projects (id),
  allowed    INTEGER NOT NULL CHECK (allowed IN (0, 1))
) STRICT, WITHOUT ROWID;
