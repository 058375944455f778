WITH (SELECT (first_span_at, last_span_at) FROM traces
  WHERE project_id = {p1:String} AND id = {p2:UUID} ORDER BY ver DESC LIMIT 1) AS bounds
SELECT count() AS total FROM spans WHERE project_id = {p3:String}
  AND started_at >= bounds.1
  AND started_at <= bounds.2
  AND trace_id = {p4:UUID}
  AND has_error = {p5:UInt8}
  AND ver NOT IN (SELECT ver FROM superseded WHERE project_id = {p6:String})
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "00000000-0000-4000-8000-000000000001"
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "00000000-0000-4000-8000-000000000001"
-- p5 = 1
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
