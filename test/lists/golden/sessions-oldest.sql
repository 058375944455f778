WITH (SELECT (max(created_ver), count()) FROM (SELECT created_ver, id FROM session_starts WHERE project_id = {p1:String} ORDER BY project_id ASC, created_ver ASC, id ASC LIMIT {p2:UInt64})) AS boundary
SELECT id, toJSONString(project_id), toJSONString(nullIf(name, '')), trace_count, error_count, cost, duration, started_at, ended_at, toJSONString(tags), if(attributes = '', '{}', attributes), toBool((error_count > 0)), fromUnixTimestamp64Micro(toInt64(created_ver + toUInt64('1735689600000000')), 'UTC'), input_tokens, output_tokens
FROM (
  SELECT * FROM sessions WHERE project_id = {p3:String} AND id IN (SELECT id FROM (SELECT created_ver, id FROM session_starts WHERE project_id = {p4:String} ORDER BY project_id ASC, created_ver ASC, id ASC LIMIT {p5:UInt64})) ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p6:String}
  AND NOT gone
  AND (boundary.2 < {p7:UInt64} OR created_ver < boundary.1)
ORDER BY created_ver ASC NULLS LAST, id ASC
LIMIT {p8:UInt64} OFFSET {p9:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON},"project_id":${1:Raw},"name":${2:Raw},"trace_count":${3:JSON},"error_count":${4:JSON},"cost":${5:JSON},"duration":${6:JSON},"started_at":${7:JSON},"ended_at":${8:JSON},"tags":${9:Raw},"attributes":${10:Raw},"has_error":${11:JSON},"created_at":${12:JSON},"input_tokens":${13:JSON},"output_tokens":${14:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 248
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 248
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = 248
-- p8 = 2
-- p9 = 4
