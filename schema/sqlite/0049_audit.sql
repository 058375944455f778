-- Who did what, entry by entry: nothing changes one. Entries of a project have numbers without gaps, and go with it; those without a
-- project are the server's own. Names of people are not kept: who is erased is not named any more.
CREATE TABLE audit (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id  TEXT REFERENCES projects (id),
  number      INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  action      TEXT NOT NULL, -- such as api_key.create
  actor       TEXT NOT NULL CHECK (actor IN ('person', 'key', 'command', 'server')),
  user_id     TEXT,
  key_id      TEXT,
  key_name    TEXT,
  sign_in_id  TEXT,
  object_id   TEXT,
  object_name TEXT,
  changes     TEXT NOT NULL, -- JSON array of {field, from?, to?}, without texts
  address     TEXT,
  request_id  TEXT
) STRICT;

CREATE INDEX audit_by_number ON audit (project_id, number);
CREATE INDEX audit_by_action ON audit (project_id, action, number);
CREATE INDEX audit_by_user ON audit (project_id, user_id, number);
CREATE INDEX audit_by_key ON audit (project_id, key_id, number);
CREATE INDEX audit_by_object ON audit (project_id, object_id, number);
CREATE INDEX audit_by_time ON audit (created_at);

CREATE TRIGGER audit_only_grows BEFORE UPDATE ON audit
BEGIN
  SELECT RAISE(ABORT, 'Entries of the audit log do not change');
END;
