-- People of a project, each with a role: a set of scopes (src/engine/identity/roles.ts). No key has more than its user's role.
CREATE TABLE members (
  project_id TEXT NOT NULL REFERENCES projects (id),
  user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  role       TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member', 'annotator', 'viewer')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX members_by_user ON members (user_id);
CREATE INDEX members_in_order ON members (project_id, created_at, user_id);

-- 1: stands for a person who signs in. It was never shown, and has the scopes of the person's role.
ALTER TABLE api_keys ADD COLUMN personal INTEGER NOT NULL DEFAULT 0 CHECK (personal IN (0, 1));
UPDATE api_keys SET personal = 1
WHERE name = 'Console' AND scopes IS NULL AND expires_at IS NULL AND revoked_at IS NULL
  AND user_id IN (SELECT id FROM users WHERE invited = 1)
  AND NOT EXISTS (
    SELECT 1 FROM api_keys AS earlier
    WHERE earlier.user_id = api_keys.user_id AND (earlier.created_at, earlier.id) < (api_keys.created_at, api_keys.id));

-- Whoever has a key is a person of its project, with the least role that has the scopes of their keys. Whoever may do everything owns it.
INSERT INTO members (project_id, user_id, role, created_at)
SELECT project_id, user_id,
  CASE max(rank) WHEN 5 THEN 'owner' WHEN 4 THEN 'admin' WHEN 3 THEN 'member' WHEN 2 THEN 'annotator' ELSE 'viewer' END,
  min(created_at)
FROM (
  SELECT project_id, user_id, created_at,
    CASE
      WHEN scopes IS NULL THEN CASE access WHEN 'full' THEN 5 WHEN 'ingest' THEN 3 ELSE 1 END
      WHEN EXISTS (SELECT 1 FROM json_each(scopes) WHERE value IN ('admin', 'audit:read')) THEN 4
      WHEN EXISTS (
        SELECT 1 FROM json_each(scopes)
        WHERE value IN ('spans:write', 'prompts:write', 'judges:write', 'datasets:write', 'monitors:write')) THEN 3
      WHEN EXISTS (SELECT 1 FROM json_each(scopes) WHERE value IN ('scores:write', 'feedback:write')) THEN 2
      ELSE 1
    END AS rank
  FROM api_keys
  WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > unixepoch() * 1000000))
GROUP BY project_id, user_id;

-- From where a person signed in, or used the session last: what the browser is called, and its address.
ALTER TABLE sign_ins ADD COLUMN browser TEXT;
ALTER TABLE sign_ins ADD COLUMN address TEXT;
