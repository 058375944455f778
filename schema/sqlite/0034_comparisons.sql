-- Comparisons of two experiments, with what they found. They go with either experiment.
CREATE TABLE comparisons (
  seq               INTEGER PRIMARY KEY AUTOINCREMENT,
  id                TEXT NOT NULL UNIQUE,
  project_id        TEXT NOT NULL REFERENCES projects (id),
  dataset_id        TEXT NOT NULL,
  dataset_name      TEXT NOT NULL, -- at the time
  candidate_id      TEXT NOT NULL,
  candidate_name    TEXT NOT NULL,
  candidate_version INTEGER NOT NULL, -- of the dataset
  baseline_id       TEXT NOT NULL,
  baseline_name     TEXT NOT NULL,
  baseline_version  INTEGER NOT NULL,
  verdict           TEXT NOT NULL CHECK (verdict IN ('passed', 'failed', 'undecided', 'incomparable')),
  created_at        INTEGER NOT NULL,
  created_by        TEXT NOT NULL REFERENCES users (id),
  -- Last, as lists read what is before them alone.
  request           TEXT NOT NULL, -- JSON object: metrics with their rules, confidence, slices, errors
  found             TEXT NOT NULL -- JSON object: why, rows, those left out, figures of metrics
) STRICT;

CREATE INDEX comparisons_in_order ON comparisons (project_id, created_at, seq);
CREATE INDEX comparisons_by_candidate ON comparisons (candidate_id);
CREATE INDEX comparisons_by_baseline ON comparisons (baseline_id);
CREATE INDEX comparisons_by_user ON comparisons (created_by);

CREATE TRIGGER comparisons_go_with_experiments AFTER UPDATE OF deleted_at ON experiments WHEN NEW.deleted_at IS NOT NULL
BEGIN
  DELETE FROM comparisons WHERE candidate_id = NEW.id OR baseline_id = NEW.id;
END;
