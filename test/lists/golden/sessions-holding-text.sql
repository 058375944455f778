WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p2:String} AND member AND session_id IN ('00000000-0000-4000-8000-000000000001'))) AND row_type = 0 AND NOT deleted) AS bounds
SELECT id FROM (
  SELECT * FROM sessions WHERE project_id = {p3:String} AND id IN {p4:Array(UUID)} ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p5:String}
  AND NOT gone
  AND id IN (SELECT session_id AS id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p6:String} AND member AND trace_id IN (SELECT trace_id AS id FROM spans
  WHERE project_id = {p7:String} AND started_at >= bounds.1 AND started_at <= bounds.2 AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p8:String} AND member AND session_id IN ('00000000-0000-4000-8000-000000000001'))) AND (0 AND ((positionCaseInsensitive(payload, {p9:String}) > 0 AND ((positionCaseInsensitive(ifNull(input_data, ''), {p10:String}) > 0) OR (positionCaseInsensitive(ifNull(output_data, ''), {p11:String}) > 0))) OR (positionCaseInsensitive(ifNull(error_message, ''), {p12:String}) > 0) OR (positionCaseInsensitive(ifNull(error_code, ''), {p13:String}) > 0))) AND identity(ver) <= {p14:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p15:String} AND next_ver <= {p14:UInt64}))))
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = ["00000000-0000-4000-8000-000000000001"]
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = "0197f3a0-0000-7000-8000-000000000001"
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = "refund"
-- p10 = "refund"
-- p11 = "refund"
-- p12 = "refund"
-- p13 = "refund"
-- p14 = 50000000000000
-- p15 = "0197f3a0-0000-7000-8000-000000000001"
