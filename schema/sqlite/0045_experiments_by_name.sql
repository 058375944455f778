-- Runs that clients of LangSmith send say which experiment they are of by its name, each request anew.
CREATE INDEX experiments_by_name ON experiments (project_id, name, created_at, seq) WHERE deleted_at IS NULL;
