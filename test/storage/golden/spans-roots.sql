SELECT concat('{"id":', concat('"', toString(id), '"'), ',"name":', toJSONString(name), '}') AS row
FROM spans
WHERE project_id = {p1:String}
  AND isNull(parent_span_id)
  AND identity(ver) <= {p2:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p3:String} AND next_ver <= {p4:UInt64})
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p5:UInt64} OFFSET {p6:UInt64}
FORMAT CustomSeparated SETTINGS format_custom_escaping_rule = 'Raw', format_custom_result_before_delimiter = '[', format_custom_result_after_delimiter = ']', format_custom_row_before_delimiter = '', format_custom_row_after_delimiter = '', format_custom_row_between_delimiter = ',
'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 50000000000000
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = 50000000000000
-- p5 = 5000
-- p6 = 0
