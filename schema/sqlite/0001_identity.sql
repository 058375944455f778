-- Who may call, and on behalf of which project. Times are microseconds since 1970, UTC; ids are lower-case UUIDs.

CREATE TABLE users (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  email      TEXT UNIQUE,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE projects (
  id         TEXT PRIMARY KEY,
  name       TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- The key itself is never stored: `hash` is its SHA-256, `prefix` what is shown so that people can tell keys apart.
CREATE TABLE api_keys (
  id           TEXT PRIMARY KEY,
  project_id   TEXT NOT NULL REFERENCES projects (id),
  user_id      TEXT NOT NULL REFERENCES users (id),
  name         TEXT NOT NULL,
  prefix       TEXT NOT NULL,
  hash         BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  created_at   INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at   INTEGER
) STRICT;

CREATE INDEX api_keys_by_project ON api_keys (project_id, created_at, id);
