-- Monitors: conditions over figures, with the state that they are in. What was measured last is in memory: only changes are stored.
CREATE TABLE monitors (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          TEXT NOT NULL UNIQUE,
  project_id  TEXT NOT NULL REFERENCES projects (id),
  name        TEXT NOT NULL,
  condition   TEXT NOT NULL, -- JSON object
  revision    INTEGER NOT NULL DEFAULT 1, -- grows when the condition changes: what was measured by an earlier one does not count
  enabled     INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  muted_until INTEGER,
  state       TEXT NOT NULL CHECK (state IN ('ok', 'firing', 'no_data')),
  alarm       TEXT CHECK (alarm IN ('ok', 'firing')), -- the last state that there was data for; null: none yet
  told        TEXT NOT NULL DEFAULT 'ok' CHECK (told IN ('ok', 'firing')), -- what webhooks heard last
  since       INTEGER NOT NULL,
  created_at  INTEGER NOT NULL,
  created_by  TEXT NOT NULL REFERENCES users (id)
) STRICT;

CREATE INDEX monitors_by_project ON monitors (project_id, seq);
CREATE INDEX monitors_by_user ON monitors (created_by);

CREATE TABLE monitor_changes (
  seq     INTEGER PRIMARY KEY AUTOINCREMENT,
  monitor INTEGER NOT NULL REFERENCES monitors (seq),
  at      INTEGER NOT NULL,
  state   TEXT NOT NULL CHECK (state IN ('ok', 'firing', 'no_data')),
  value   REAL,
  count   INTEGER NOT NULL
) STRICT;

CREATE INDEX monitor_changes_by_monitor ON monitor_changes (monitor, seq);

-- Who is told of events. A secret is derived from the server's own and the generation: it is nowhere stored.
CREATE TABLE webhooks (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  project_id TEXT NOT NULL REFERENCES projects (id),
  name       TEXT NOT NULL,
  kind       TEXT NOT NULL CHECK (kind IN ('webhook', 'slack', 'email')),
  target     TEXT NOT NULL, -- URL, or address of email
  events     TEXT NOT NULL, -- JSON array of types of events; empty: all
  enabled    INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  generation INTEGER NOT NULL DEFAULT 1, -- of the secret
  dropped    INTEGER NOT NULL DEFAULT 0, -- events that found too many waiting
  failures   INTEGER NOT NULL DEFAULT 0, -- in a row
  paused_to  INTEGER NOT NULL DEFAULT 0, -- nothing is delivered before, as attempts failed
  created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL REFERENCES users (id)
) STRICT;

CREATE INDEX webhooks_by_project ON webhooks (project_id, seq);
CREATE INDEX webhooks_by_user ON webhooks (created_by);

-- What each is told. A row is written in the transaction of its event, and waits until it was delivered or given up.
CREATE TABLE webhook_deliveries (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  id         TEXT NOT NULL UNIQUE,
  webhook    INTEGER NOT NULL REFERENCES webhooks (seq),
  event      TEXT NOT NULL, -- its type
  body       TEXT NOT NULL, -- JSON object
  state      TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'given_up')),
  attempts   INTEGER NOT NULL DEFAULT 0,
  next_at    INTEGER NOT NULL,
  status     INTEGER, -- of the last attempt; null: there was no response
  ms         INTEGER,
  response   TEXT, -- the beginning of what was answered
  error      TEXT,
  tried_at   INTEGER,
  created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook, seq);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook, next_at) WHERE state = 'waiting';

-- Monitors count feedback by when it was last said.
CREATE INDEX feedback_by_time ON feedback (project_id, updated_at, thumbs_up) WHERE judge_id IS NULL;
