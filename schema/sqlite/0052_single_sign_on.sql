-- Who somebody is to a provider of single sign-on, or to a proxy that signs people in: told apart by issuer and subject alone.
CREATE TABLE external_identities (
  issuer     TEXT NOT NULL,
  subject    TEXT NOT NULL,
  user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX external_identities_by_user ON external_identities (user_id);

-- 1: the role follows the groups of the person at the provider, with each sign-in.
ALTER TABLE members ADD COLUMN by_groups INTEGER NOT NULL DEFAULT 0 CHECK (by_groups IN (0, 1));

-- By what a person signed in, where that was neither a link nor a key.
ALTER TABLE sign_ins ADD COLUMN provider TEXT CHECK (provider IN ('oidc', 'proxy'));
