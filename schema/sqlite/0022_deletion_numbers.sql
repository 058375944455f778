-- Deletions tell rows that came after their order by numbers: each row keeps the number of the last deletion that had been ordered
-- when it was written. Times would not do, as a clock may go back, and records that are imported have times of their own.
ALTER TABLE evaluations ADD COLUMN after_deletion INTEGER NOT NULL DEFAULT 0;
ALTER TABLE feedback ADD COLUMN after_deletion INTEGER NOT NULL DEFAULT 0; -- of when it was last given
ALTER TABLE judge_runs ADD COLUMN after_deletion INTEGER NOT NULL DEFAULT 0; -- of when it was last queued by a call
ALTER TABLE judge_calls ADD COLUMN after_deletion INTEGER NOT NULL DEFAULT 0; -- of the run
ALTER TABLE jobs ADD COLUMN after_deletion INTEGER NOT NULL DEFAULT 0;

-- Of projects with deletions under way, by the times that were compared so far.
UPDATE evaluations SET after_deletion = coalesce((SELECT max(d.seq) FROM deletions AS d
  WHERE d.project_id = evaluations.project_id AND d.created_at < evaluations.created_at), 0)
WHERE project_id IN (SELECT project_id FROM deletions);
UPDATE feedback SET after_deletion = coalesce((SELECT max(d.seq) FROM deletions AS d
  WHERE d.project_id = feedback.project_id AND d.created_at < feedback.updated_at), 0)
WHERE project_id IN (SELECT project_id FROM deletions);
UPDATE judge_runs SET after_deletion = coalesce((SELECT max(d.seq) FROM deletions AS d
  WHERE d.project_id = judge_runs.project_id AND d.created_at < judge_runs.created_at), 0)
WHERE project_id IN (SELECT project_id FROM deletions);
UPDATE judge_calls SET after_deletion = coalesce((SELECT max(d.seq) FROM deletions AS d
  WHERE d.project_id = judge_calls.project_id AND d.created_at < judge_calls.created_at), 0)
WHERE project_id IN (SELECT project_id FROM deletions);
UPDATE jobs SET after_deletion = coalesce((SELECT max(d.seq) FROM deletions AS d
  WHERE d.project_id = jobs.project_id AND d.created_at < jobs.created_at), 0)
WHERE project_id IN (SELECT project_id FROM deletions);

DROP TRIGGER run_made_calls;
CREATE TRIGGER run_made_calls AFTER DELETE ON judge_runs WHEN OLD.attempts > 0
BEGIN
  INSERT INTO judge_calls (run_id, project_id, span_id, created_at, after_deletion)
  VALUES (OLD.id, OLD.project_id, OLD.span_id, OLD.created_at, OLD.after_deletion) ON CONFLICT DO NOTHING;
END;

-- Imports took times that are to come, and evaluations of all projects were dated by them: exports left such rows out, and no
-- import takes them any more.
CREATE TEMP TABLE upgraded AS SELECT CAST(unixepoch('subsec') * 1000000 AS INTEGER) AS at;
UPDATE evaluations SET created_at = (SELECT at FROM upgraded) WHERE seq IN (
  SELECT e.seq FROM judges AS j CROSS JOIN evaluations AS e INDEXED BY evaluations_by_judge ON e.judge_id = j.id
  WHERE e.created_at > (SELECT at FROM upgraded));
UPDATE judge_versions SET began_at = min(began_at, (SELECT at FROM upgraded)) WHERE began_at > (SELECT at FROM upgraded);
UPDATE feedback SET created_at = min(created_at, (SELECT at FROM upgraded)), updated_at = min(updated_at, (SELECT at FROM upgraded))
WHERE max(created_at, updated_at) > (SELECT at FROM upgraded);
UPDATE corrections SET given_at = (SELECT at FROM upgraded) WHERE given_at > (SELECT at FROM upgraded);
UPDATE judges SET created_at = min(created_at, (SELECT at FROM upgraded)), updated_at = min(updated_at, (SELECT at FROM upgraded)),
  deleted_at = min(deleted_at, (SELECT at FROM upgraded))
WHERE max(created_at, updated_at, coalesce(deleted_at, 0)) > (SELECT at FROM upgraded);
UPDATE feedback_links SET created_at = min(created_at, (SELECT at FROM upgraded)),
  revoked_at = min(revoked_at, (SELECT at FROM upgraded))
WHERE max(created_at, coalesce(revoked_at, 0)) > (SELECT at FROM upgraded);
UPDATE model_prices SET created_at = min(created_at, (SELECT at FROM upgraded)), updated_at = min(updated_at, (SELECT at FROM upgraded))
WHERE max(created_at, updated_at) > (SELECT at FROM upgraded);
UPDATE prompts SET created_at = (SELECT at FROM upgraded) WHERE created_at > (SELECT at FROM upgraded);

DROP TRIGGER prompt_versions_are_immutable;
UPDATE prompt_versions SET created_at = min(created_at, (SELECT at FROM upgraded)),
  updated_at = min(updated_at, (SELECT at FROM upgraded))
WHERE max(created_at, updated_at) > (SELECT at FROM upgraded);
CREATE TRIGGER prompt_versions_are_immutable
BEFORE UPDATE OF id, prompt_id, version, content_hash, metadata, created_at, created_by, content ON prompt_versions
BEGIN
  SELECT RAISE(ABORT, 'prompt versions are immutable');
END;
DROP TABLE upgraded;
