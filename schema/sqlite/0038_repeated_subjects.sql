-- Whether both experiments of a comparison tried the same: what they differ by is noise, which later comparisons are shown with.
ALTER TABLE comparisons ADD COLUMN is_repeat INTEGER NOT NULL DEFAULT 0 CHECK (is_repeat IN (0, 1));
CREATE INDEX comparisons_of_repeats ON comparisons (project_id, dataset_id, created_at) WHERE is_repeat = 1;
