-- What the calls of models that the server makes for a project may cost in a month, in US dollars. Null: as much as they do.
CREATE TABLE model_budgets (
  project_id    TEXT PRIMARY KEY REFERENCES projects (id),
  monthly_limit REAL CHECK (monthly_limit >= 0),
  updated_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What they cost, by month. It is counted once a call is answered: that its span is deleted, or priced again, changes nothing of it.
CREATE TABLE model_spending (
  project_id TEXT NOT NULL REFERENCES projects (id),
  month      TEXT NOT NULL, -- such as 2026-11, in UTC
  calls      INTEGER NOT NULL,
  unpriced   INTEGER NOT NULL, -- of these, calls whose cost is not known
  cost       REAL NOT NULL,
  told       INTEGER NOT NULL DEFAULT 0, -- the largest share of the budget, in percent, that destinations were told of
  PRIMARY KEY (project_id, month)
) STRICT, WITHOUT ROWID;
