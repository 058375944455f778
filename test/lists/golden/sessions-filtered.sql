SELECT id, toJSONString(nullIf(name, ''))
FROM (
  SELECT * FROM sessions WHERE project_id = {p1:String} AND id IN (SELECT id FROM (SELECT created_ver, id FROM session_starts WHERE project_id = {p2:String} AND created_ver >= {p3:Int64})) ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p4:String}
  AND NOT gone
  AND created_ver >= {p5:Int64}
  AND nullIf(name, '') IN ({p6:String}, {p7:String})
  AND (error_count > 0) = {p8:UInt8}
  AND id IN (SELECT session_id AS id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p9:String} AND member AND trace_id IN (SELECT trace_id AS id FROM spans
  WHERE project_id = {p10:String} AND (((positionCaseInsensitive(payload, {p11:String}) > 0 AND ((positionCaseInsensitive(ifNull(input_data, ''), {p12:String}) > 0) OR (positionCaseInsensitive(ifNull(output_data, ''), {p13:String}) > 0))) OR (positionCaseInsensitive(ifNull(error_message, ''), {p14:String}) > 0) OR (positionCaseInsensitive(ifNull(error_code, ''), {p15:String}) > 0))) AND identity(ver) <= {p16:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p17:String} AND next_ver <= {p16:UInt64}))))
ORDER BY nullIf(name, '') DESC NULLS LAST, id DESC
LIMIT {p18:UInt64} OFFSET {p19:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON},"name":${1:Raw}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = 34164000000000
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 34164000000000
-- p6 = "a"
-- p7 = "b"
-- p8 = 0
-- p9 = "0197f3a0-0000-7000-8000-000000000001"
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = "refund"
-- p12 = "refund"
-- p13 = "refund"
-- p14 = "refund"
-- p15 = "refund"
-- p16 = 50000000000000
-- p17 = "0197f3a0-0000-7000-8000-000000000001"
-- p18 = 50
-- p19 = 0
