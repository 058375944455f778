-- Recalculations of costs become jobs as others are.

ALTER TABLE jobs ADD COLUMN checkpoint TEXT; -- JSON: how far work in portions is; null: work in steps, or not begun

-- They did not say who asked for them: it is the user of the project's first key.
INSERT INTO jobs (
  id, project_id, kind, subject_id, state, phase, total, done, summary, input, checkpoint, error, created_at, created_by,
  finished_at
)
SELECT id, project_id, 'reprice', project_id, status, iif(status = 'running', 'calculating', NULL), total, examined,
  scope, scope, checkpoint, error, created_at, user_id, finished_at
FROM (
  SELECT *,
    json_object('started_after', started_after, 'started_before', started_before, 'provider', provider, 'model', model)
      AS scope,
    json_object(
      'after', json(iif(after_id IS NULL, 'null',
        json_object('started_at', after_started_at, 'trace_id', after_trace_id, 'id', after_id))),
      'changed', changed
    ) AS checkpoint,
    (SELECT user_id FROM api_keys WHERE api_keys.project_id = reprice_jobs.project_id ORDER BY created_at, id LIMIT 1)
      AS user_id
  FROM reprice_jobs
)
WHERE user_id IS NOT NULL
ORDER BY seq;

DROP TABLE reprice_jobs;
