WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id IN ('00000000-0000-4000-8000-000000000001') AND row_type = 0 AND NOT deleted) AS bounds
SELECT DISTINCT id FROM (SELECT trace_id AS id FROM spans WHERE started_at >= bounds.1 AND started_at <= bounds.2 AND trace_id IN ('00000000-0000-4000-8000-000000000001') AND project_id = {p2:String} AND (positionCaseInsensitiveUTF8(payload, {p3:String}) > 0
  AND (positionCaseInsensitiveUTF8(ifNull(input_data, ''), {p4:String}) > 0 OR positionCaseInsensitiveUTF8(ifNull(output_data, ''), {p5:String}) > 0)) AND identity(ver) <= {p6:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p7:String} AND next_ver <= {p8:UInt64}))
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = "refund"
-- p4 = "refund"
-- p5 = "refund"
-- p6 = 50000000000000
-- p7 = "0197f3a0-0000-7000-8000-000000000001"
-- p8 = 50000000000000
