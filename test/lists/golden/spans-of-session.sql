WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p2:String} AND member AND session_id IN ({p3:UUID}))) AND row_type = 0 AND NOT deleted) AS bounds
SELECT id
FROM spans
WHERE project_id = {p4:String}
  AND started_at >= bounds.1
  AND started_at <= bounds.2
  AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p5:String} AND member AND session_id IN ({p6:UUID})))
  AND identity(ver) <= {p7:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p8:String} AND next_ver <= {p7:UInt64})
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p9:UInt64} OFFSET {p10:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = "00000000-0000-4000-8000-000000000001"
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = "00000000-0000-4000-8000-000000000001"
-- p7 = 50000000000000
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = 5000
-- p10 = 0
