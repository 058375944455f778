WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id IN (SELECT trace_id FROM session_traces WHERE project_id = {p2:String} AND session_id IN ('00000000-0000-4000-8000-000000000001')) AND row_type = 0 AND NOT deleted) AS bounds
SELECT DISTINCT id FROM (SELECT session_id AS id FROM session_traces FINAL WHERE project_id = {p3:String} AND member AND session_id IN ('00000000-0000-4000-8000-000000000001') AND trace_id IN (SELECT trace_id AS id FROM spans WHERE started_at >= bounds.1 AND started_at <= bounds.2 AND trace_id IN (SELECT trace_id FROM session_traces WHERE project_id = {p4:String} AND session_id IN ('00000000-0000-4000-8000-000000000001')) AND project_id = {p5:String} AND (0 AND positionCaseInsensitiveUTF8(payload, {p6:String}) > 0
  AND (positionCaseInsensitiveUTF8(ifNull(input_data, ''), {p7:String}) > 0 OR positionCaseInsensitiveUTF8(ifNull(output_data, ''), {p8:String}) > 0)) AND identity(ver) <= {p9:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p10:String} AND next_ver <= {p11:UInt64})))
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = "refund"
-- p7 = "refund"
-- p8 = "refund"
-- p9 = 50000000000000
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = 50000000000000
