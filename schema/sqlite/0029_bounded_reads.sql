-- Of many corrections of one span, the first of an evaluation: since when the judge was known to have made one.
CREATE INDEX corrections_known ON corrections (judge_id, span_id, revision) WHERE evaluation_seq IS NOT NULL;

-- People of imports and guests may be very many, and may all have one name: nothing looks for users by that alone.
DROP INDEX users_by_name;
CREATE INDEX users_by_creation ON users (created_at, id);

-- Ordering the deletion of a project revokes its keys in one go. Their sign-ins count no more with that, and go with the keys' rows, by
-- portions.
DROP TRIGGER revoked_keys_end_sign_ins;
CREATE TRIGGER revoked_keys_end_sign_ins AFTER UPDATE OF revoked_at ON api_keys
WHEN NEW.revoked_at IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM deletions WHERE project_id = NEW.project_id AND what = 'project')
BEGIN
  DELETE FROM sign_in_keys WHERE key_id = NEW.id;
END;

-- Sign-ins by project, in the order in which they are listed. Both stand in other tables, too; a code that is used becomes a session of
-- another time.
ALTER TABLE sign_in_keys ADD COLUMN project_id TEXT;
ALTER TABLE sign_in_keys ADD COLUMN created_at INTEGER;
UPDATE sign_in_keys SET project_id = (SELECT project_id FROM api_keys WHERE id = key_id),
  created_at = (SELECT created_at FROM sign_ins WHERE id = sign_in_id);
CREATE INDEX sign_in_keys_in_order ON sign_in_keys (project_id, created_at DESC, sign_in_id);

-- Keys that a start was told to make stay known when they are revoked. Until now they were known by their name, which anybody may give.
ALTER TABLE api_keys ADD COLUMN of_start INTEGER NOT NULL DEFAULT 0 CHECK (of_start IN (0, 1));
UPDATE api_keys SET of_start = 1 WHERE name = 'Initial key';

-- Users who were made by an invitation: they go with their last key, if they left nothing.
ALTER TABLE users ADD COLUMN invited INTEGER NOT NULL DEFAULT 0 CHECK (invited IN (0, 1));
