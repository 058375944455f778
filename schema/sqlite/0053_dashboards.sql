-- Views of lists that the people of a project share: filters, order and columns under a name.
CREATE TABLE saved_views (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id),
  name       TEXT NOT NULL,
  list       TEXT NOT NULL CHECK (list IN ('spans', 'traces', 'sessions')),
  query      TEXT NOT NULL, -- filters and order, as in the URL of the list
  columns    TEXT, -- JSON array of names; null: the usual ones
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL REFERENCES users (id),
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;

CREATE INDEX saved_views_by_user ON saved_views (created_by);

-- Dashboards: charts of statistics under a name. What they show is measured when someone looks.
CREATE TABLE dashboards (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id),
  name       TEXT NOT NULL,
  window     TEXT NOT NULL, -- such as 24h
  charts     TEXT NOT NULL, -- JSON array of objects
  version    INTEGER NOT NULL DEFAULT 1, -- grows with each change
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL REFERENCES users (id),
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, name)
) STRICT;

CREATE INDEX dashboards_by_user ON dashboards (created_by);
