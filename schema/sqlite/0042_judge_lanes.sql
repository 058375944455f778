-- Judges of the project that had no room for what they would queue, and wait: how far each looked, by its id. A JSON object.
ALTER TABLE judge_feed_projects ADD COLUMN behind TEXT NOT NULL DEFAULT '{}';

-- What new spans have queued about traces and sessions is bounded for each judge, whether it waits for quiet or is due.
DROP INDEX judge_runs_waiting;
CREATE INDEX judge_runs_of_changes ON judge_runs (project_id, judge_id)
  WHERE state = 'queued' AND subject_id IS NOT NULL AND origin = 'automatic';

-- How often in a row the judge failed on the trace or session, where its failed run is no longer kept; null: nothing is known.
ALTER TABLE judge_calls ADD COLUMN judge_id TEXT;
ALTER TABLE judge_calls ADD COLUMN subject_id TEXT;
ALTER TABLE judge_calls ADD COLUMN failed INTEGER;
CREATE INDEX judge_calls_failed ON judge_calls (judge_id, subject_id, failed) WHERE subject_id IS NOT NULL;
