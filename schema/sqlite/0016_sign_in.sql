-- People signed in to the console, and the codes by which they may sign in. Times are microseconds since 1970, UTC; ids are
-- lower-case UUIDs.
CREATE TABLE sign_ins (
  id           TEXT PRIMARY KEY,
  user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  -- code: may sign in once; session: signed in, by a code or with a key
  stage        TEXT NOT NULL CHECK (stage IN ('code', 'session')),
  -- 1: a code whose user and key were made for it, and go if it is never used
  invited      INTEGER NOT NULL CHECK (invited IN (0, 1)),
  -- SHA-256 of the code, or of what the cookie of the session holds
  hash         BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
  created_at   INTEGER NOT NULL, -- of the code, then of the session
  last_used_at INTEGER,
  expires_at   INTEGER NOT NULL
) STRICT;

CREATE INDEX sign_ins_by_user ON sign_ins (user_id, stage, created_at);
CREATE INDEX sign_ins_by_end ON sign_ins (expires_at);

-- The keys that a sign-in hangs on, at most one of each project: it opens what they open, and ends with them.
CREATE TABLE sign_in_keys (
  sign_in_id TEXT NOT NULL REFERENCES sign_ins (id) ON DELETE CASCADE,
  key_id     TEXT NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  PRIMARY KEY (sign_in_id, key_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sign_in_keys_by_key ON sign_in_keys (key_id);

CREATE TRIGGER revoked_keys_end_sign_ins AFTER UPDATE OF revoked_at ON api_keys WHEN NEW.revoked_at IS NOT NULL
BEGIN
  DELETE FROM sign_in_keys WHERE key_id = NEW.id;
END;

CREATE TRIGGER sign_ins_end_with_their_last_key AFTER DELETE ON sign_in_keys
WHEN NOT EXISTS (SELECT 1 FROM sign_in_keys WHERE sign_in_id = OLD.sign_in_id)
BEGIN
  DELETE FROM sign_ins WHERE id = OLD.sign_in_id;
END;

-- Where people open the console, as the server said at its last start: the admin program prints URLs of it.
CREATE TABLE console_address (
  only INTEGER PRIMARY KEY CHECK (only = 1),
  url  TEXT NOT NULL
) STRICT;
