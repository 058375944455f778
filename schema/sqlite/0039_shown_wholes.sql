-- The traces that a job shows a model as part of a trace or session, by the span of the job that stands for that. Noted before
-- their texts are read: the deletion of any span of them finds the job by it.
CREATE TABLE job_traces (
  project_id TEXT NOT NULL,
  trace_id   TEXT NOT NULL,
  job_id     TEXT NOT NULL REFERENCES jobs (id),
  span_id    TEXT NOT NULL,
  PRIMARY KEY (project_id, trace_id, job_id, span_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_traces_by_job ON job_traces (job_id, span_id);

-- Automatic runs about the same trace or session that failed in a row before this one.
ALTER TABLE judge_runs ADD COLUMN failed_before INTEGER NOT NULL DEFAULT 0;

-- Runs that wait for quiet are bounded, and counted, apart from those that are due.
CREATE INDEX judge_runs_waiting ON judge_runs (project_id, next_attempt_at)
  WHERE state = 'queued' AND subject_id IS NOT NULL;
