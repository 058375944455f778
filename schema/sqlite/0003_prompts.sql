-- A prompt is known by its slug inside a project. Times are microseconds since 1970, UTC; ids are lower-case UUIDs.
CREATE TABLE prompts (
  id         TEXT PRIMARY KEY,
  project_id TEXT NOT NULL REFERENCES projects (id),
  slug       TEXT NOT NULL CHECK (length(slug) BETWEEN 1 AND 128),
  created_at INTEGER NOT NULL,
  UNIQUE (project_id, slug)
) STRICT;

-- Numbered from 1 without gaps, one per content. Only the bound model ever changes.
CREATE TABLE prompt_versions (
  id           TEXT PRIMARY KEY,
  prompt_id    TEXT NOT NULL REFERENCES prompts (id),
  version      INTEGER NOT NULL CHECK (version >= 1),
  content_hash TEXT NOT NULL CHECK (length(content_hash) = 64), -- SHA-256 of the content in UTF-8, hexadecimal
  model_id     TEXT,
  metadata     TEXT NOT NULL, -- JSON object
  created_at   INTEGER NOT NULL,
  created_by   TEXT NOT NULL REFERENCES users (id),
  updated_at   INTEGER NOT NULL,
  content      TEXT NOT NULL, -- last, so that what else is asked of a row is read without it
  UNIQUE (prompt_id, version),
  UNIQUE (prompt_id, content_hash)
) STRICT;

CREATE TRIGGER prompt_versions_are_immutable
BEFORE UPDATE OF id, prompt_id, version, content_hash, metadata, created_at, created_by, content ON prompt_versions
BEGIN
  SELECT RAISE(ABORT, 'prompt versions are immutable');
END;

-- Every time a tag was pinned. The last pin of a tag says where it points, so that a move and its history are one write.
CREATE TABLE prompt_tag_pins (
  id         INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they happened
  prompt_id  TEXT NOT NULL,
  tag        TEXT NOT NULL CHECK (length(tag) BETWEEN 1 AND 64 AND tag <> 'latest'),
  version    INTEGER NOT NULL,
  pinned_at  INTEGER NOT NULL,
  pinned_by  TEXT NOT NULL REFERENCES users (id),
  FOREIGN KEY (prompt_id, version) REFERENCES prompt_versions (prompt_id, version)
) STRICT;

CREATE INDEX prompt_tag_pins_by_tag ON prompt_tag_pins (prompt_id, tag, id);
