WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id IN ('00000000-0000-4000-8000-000000000001') AND row_type = 0 AND NOT deleted) AS bounds
SELECT id FROM (
  SELECT * FROM traces WHERE project_id = {p2:String} AND id IN {p3:Array(UUID)} ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p4:String}
  AND NOT gone
  AND id IN (SELECT trace_id AS id FROM spans
  WHERE project_id = {p5:String} AND started_at >= bounds.1 AND started_at <= bounds.2 AND trace_id IN ('00000000-0000-4000-8000-000000000001') AND (((positionCaseInsensitive(payload, {p6:String}) > 0 AND ((positionCaseInsensitive(ifNull(input_data, ''), {p7:String}) > 0) OR (positionCaseInsensitive(ifNull(output_data, ''), {p8:String}) > 0))) OR (positionCaseInsensitive(ifNull(error_message, ''), {p9:String}) > 0) OR (positionCaseInsensitive(ifNull(error_code, ''), {p10:String}) > 0))) AND identity(ver) <= {p11:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p12:String} AND next_ver <= {p11:UInt64}))
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = ["00000000-0000-4000-8000-000000000001"]
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = "refund"
-- p7 = "refund"
-- p8 = "refund"
-- p9 = "refund"
-- p10 = "refund"
-- p11 = 50000000000000
-- p12 = "0197f3a0-0000-7000-8000-000000000001"
