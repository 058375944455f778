SELECT id, trace_id, parent_span_id, session_id, toJSONString(nullIf(session_name, '')), toJSONString(project_id), toJSONString(name), kind, nullIf(status, ''), started_at, ended_at, duration_ms, cost, toJSONString(input_data), toJSONString(output_data), if(attributes = '', '{}', attributes), toJSONString(tags), toJSONString(trace_tags), toJSONString(session_tags), toJSONString(error_code), toJSONString(error_message), toJSONString(error_stack), toJSONString(code_filepath), code_lineno, toBool(has_error), fromUnixTimestamp64Micro(toInt64(if(received_ver = 0, ver, received_ver) + toUInt64('1735689600000000')), 'UTC'), toJSONString(nullIf(provider, '')), toJSONString(nullIf(model, '')), input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, toJSONString(nullIf(prompt_slug, '')), prompt_version, prompt_version_id
FROM spans
WHERE project_id = {p1:String}
  AND NOT internal
  AND identity(ver) <= {p2:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p3:String} AND next_ver <= {p2:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p4:String} AND trace_id IN {p5:Array(UUID)} AND ver <= {p6:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p7:UInt64} OFFSET {p8:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON},"trace_id":${1:JSON},"parent_span_id":${2:JSON},"session_id":${3:JSON},"session_name":${4:Raw},"project_id":${5:Raw},"name":${6:Raw},"kind":${7:JSON},"status":${8:JSON},"started_at":${9:JSON},"ended_at":${10:JSON},"duration_ms":${11:JSON},"cost":${12:JSON},"input_data":${13:Raw},"output_data":${14:Raw},"attributes":${15:Raw},"tags":${16:Raw},"trace_tags":${17:Raw},"session_tags":${18:Raw},"error_code":${19:Raw},"error_message":${20:Raw},"error_stack":${21:Raw},"code_filepath":${22:Raw},"code_lineno":${23:JSON},"has_error":${24:JSON},"created_at":${25:JSON},"provider":${26:Raw},"model":${27:Raw},"input_tokens":${28:JSON},"output_tokens":${29:JSON},"cache_read_tokens":${30:JSON},"cache_write_tokens":${31:JSON},"prompt_slug":${32:Raw},"prompt_version":${33:JSON},"prompt_version_id":${34:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 50000000000000
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = ["00000000-0000-4000-8000-000000000001"]
-- p6 = 50000000000000
-- p7 = 50
-- p8 = 0
