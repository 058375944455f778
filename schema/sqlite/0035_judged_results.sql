-- Versions of judges that results of experiments are judged by, with all that their corrections show, whatever becomes of those.
CREATE TABLE judge_pins (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id        TEXT NOT NULL REFERENCES projects (id),
  judge_id          TEXT NOT NULL REFERENCES judges (id),
  judge_version     TEXT NOT NULL,
  prompt_version_id TEXT NOT NULL,
  revision          INTEGER NOT NULL, -- of the corrections; 0: none are shown
  created_at        INTEGER NOT NULL,
  lost_at           INTEGER, -- since when a span is gone that a correction is of: nothing is judged by this version any more
  UNIQUE (judge_id, judge_version)
) STRICT;

CREATE INDEX judge_pins_of_project ON judge_pins (project_id);

CREATE TABLE judge_pin_corrections (
  seq      INTEGER PRIMARY KEY,
  pin      INTEGER NOT NULL REFERENCES judge_pins (seq),
  position INTEGER NOT NULL, -- oldest first
  span_id  TEXT NOT NULL,
  example  TEXT NOT NULL, -- JSON: the correction, what its span says, and the line that shows both
  UNIQUE (pin, position)
) STRICT;

CREATE INDEX judge_pin_corrections_by_span ON judge_pin_corrections (span_id, pin);

-- Which versions experiments were to be judged by.
CREATE TABLE experiment_judges (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT, -- the last one that was asked for is the highest
  experiment INTEGER NOT NULL REFERENCES experiments (seq),
  pin        INTEGER NOT NULL REFERENCES judge_pins (seq),
  asked_at   INTEGER NOT NULL,
  UNIQUE (experiment, pin)
) STRICT;

CREATE INDEX experiment_judges_by_pin ON experiment_judges (pin);

ALTER TABLE judge_runs ADD COLUMN pin INTEGER REFERENCES judge_pins (seq); -- null: the version that the judge has when it runs
ALTER TABLE judge_runs ADD COLUMN experiment_id TEXT; -- of which the result is that it evaluates by the pin
CREATE INDEX judge_runs_by_pin ON judge_runs (pin, experiment_id, state) WHERE pin IS NOT NULL;

-- Of results: dataset and id of their row. What people say of results of one row is held out together, or learned from together.
ALTER TABLE evaluations ADD COLUMN row_key TEXT;
CREATE INDEX evaluations_of_rows ON evaluations (project_id, span_id, row_key) WHERE row_key IS NOT NULL;
