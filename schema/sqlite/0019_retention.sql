-- After how many days the traces of a project go; null: they are kept for ever.
ALTER TABLE projects ADD COLUMN retention_days INTEGER CHECK (retention_days BETWEEN 1 AND 36500);
