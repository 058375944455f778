-- Scopes of a key (a JSON array; null: those of its access), when it expires, and the address it was last used from.
-- A key with scopes of its own has the access 'read' if it only reads, else 'ingest': a server that knows no scopes opens little.

ALTER TABLE api_keys ADD COLUMN scopes TEXT;
ALTER TABLE api_keys ADD COLUMN expires_at INTEGER;
ALTER TABLE api_keys ADD COLUMN last_used_from TEXT;
-- When another was made in its place: only once.
ALTER TABLE api_keys ADD COLUMN rotated_at INTEGER;

CREATE INDEX api_keys_by_expiry ON api_keys (expires_at) WHERE expires_at IS NOT NULL AND revoked_at IS NULL;
