-- What personal data of a project's spans is masked before they are stored. `rules` is a JSON array. The key makes equal values have equal
-- hashes, also by later versions of the rules; it goes with the project.
CREATE TABLE masking_rules (
  project_id TEXT PRIMARY KEY REFERENCES projects (id),
  version    INTEGER NOT NULL,
  rules      TEXT NOT NULL,
  hash_key   BLOB NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
