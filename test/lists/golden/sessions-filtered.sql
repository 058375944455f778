SELECT id, toJSONString(nullIf(name, ''))
FROM sessions FINAL
WHERE project_id = {p1:String}
  AND NOT gone
  AND created_ver >= {p2:Int64}
  AND nullIf(name, '') IN ({p3:String}, {p4:String})
  AND (error_count > 0) = {p5:UInt8}
  AND id IN (SELECT session_id AS id FROM session_traces FINAL WHERE project_id = {p6:String} AND member AND trace_id IN (SELECT trace_id AS id FROM spans WHERE project_id = {p7:String} AND (positionCaseInsensitiveUTF8(payload, {p8:String}) > 0
  AND (positionCaseInsensitiveUTF8(ifNull(input_data, ''), {p9:String}) > 0 OR positionCaseInsensitiveUTF8(ifNull(output_data, ''), {p10:String}) > 0)) AND identity(ver) <= {p11:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p12:String} AND next_ver <= {p13:UInt64})))
ORDER BY nullIf(name, '') DESC NULLS LAST, id DESC
LIMIT {p14:UInt64} OFFSET {p15:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON},"name":${1:Raw}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 34164000000000
-- p3 = "a"
-- p4 = "b"
-- p5 = 0
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = "0197f3a0-0000-7000-8000-000000000001"
-- p8 = "refund"
-- p9 = "refund"
-- p10 = "refund"
-- p11 = 50000000000000
-- p12 = "0197f3a0-0000-7000-8000-000000000001"
-- p13 = 50000000000000
-- p14 = 50
-- p15 = 0
