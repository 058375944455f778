-- What people say to each other about a trace, or about a span of it. Comments go with what they are about.
CREATE TABLE comments (
  id             TEXT PRIMARY KEY,
  project_id     TEXT NOT NULL REFERENCES projects (id),
  trace_id       TEXT NOT NULL,
  span_id        TEXT, -- null: it is about the whole trace
  user_id        TEXT NOT NULL REFERENCES users (id),
  text           TEXT NOT NULL,
  created_at     INTEGER NOT NULL,
  edited_at      INTEGER, -- null: never
  after_deletion INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX comments_of_trace ON comments (project_id, trace_id, created_at, id);
CREATE INDEX comments_in_order ON comments (project_id, created_at, id);
CREATE INDEX comments_by_user ON comments (user_id);
