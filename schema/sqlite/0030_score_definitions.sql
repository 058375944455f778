-- What the values of a score's name are, by project. The scores themselves are in ClickHouse.
CREATE TABLE score_definitions (
  project_id TEXT NOT NULL REFERENCES projects (id),
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('numeric', 'boolean', 'categorical', 'text')),
  min REAL, -- bounds of numbers; null: none
  max REAL,
  categories TEXT, -- JSON array; null: any text is a category
  direction TEXT CHECK (direction IN ('higher', 'lower')), -- what is better; null: not stated
  description TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, name)
) STRICT, WITHOUT ROWID;
