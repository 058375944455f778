WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id = {p2:UUID} AND row_type = 0 AND NOT deleted) AS bounds
SELECT count() AS total FROM spans WHERE project_id = {p3:String}
  AND started_at >= bounds.1
  AND started_at <= bounds.2
  AND trace_id = {p4:UUID}
  AND has_error = {p5:UInt8}
  AND identity(ver) <= {p6:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p7:String} AND next_ver <= {p6:UInt64})
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "00000000-0000-4000-8000-000000000001"
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "00000000-0000-4000-8000-000000000001"
-- p5 = 1
-- p6 = 50000000000000
-- p7 = "0197f3a0-0000-7000-8000-000000000001"
