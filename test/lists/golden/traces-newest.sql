WITH (SELECT (min(started_at), count()) FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p1:String} ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p2:UInt64})) AS boundary
SELECT id, session_id, toJSONString(project_id), toJSONString(name), status, started_at, ended_at, duration_ms, cost, span_count, error_count, toJSONString(CAST(NULL, 'Nullable(String)')), toJSONString(CAST(NULL, 'Nullable(String)')), toJSONString(CAST(NULL, 'Nullable(String)')), toJSONString(tags), if(attributes = '', '{}', attributes), toBool((status = 'error')), fromUnixTimestamp64Micro(toInt64(created_ver + toUInt64('1735689600000000')), 'UTC'), input_tokens, output_tokens
FROM (
  SELECT * FROM traces WHERE project_id = {p3:String} AND id IN (SELECT id FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p4:String} ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p5:UInt64})) ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p6:String}
  AND NOT gone
  AND (boundary.2 < {p7:UInt64} OR started_at > boundary.1)
  AND NOT internal
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p8:UInt64} OFFSET {p9:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON},"session_id":${1:JSON},"project_id":${2:Raw},"name":${3:Raw},"status":${4:JSON},"started_at":${5:JSON},"ended_at":${6:JSON},"duration_ms":${7:JSON},"cost":${8:JSON},"span_count":${9:JSON},"error_count":${10:JSON},"root_span_input":${11:Raw},"root_span_output":${12:Raw},"root_span_error":${13:Raw},"tags":${14:Raw},"attributes":${15:Raw},"has_error":${16:JSON},"created_at":${17:JSON},"input_tokens":${18:JSON},"output_tokens":${19:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 600
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 600
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = 600
-- p8 = 50
-- p9 = 0
