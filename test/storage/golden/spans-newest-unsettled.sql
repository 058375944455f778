SELECT concat('{"id":', concat('"', toString(id), '"'), ',"trace_id":', concat('"', toString(trace_id), '"'), ',"parent_span_id":', if(isNull(parent_span_id), 'null', assumeNotNull(concat('"', toString(parent_span_id), '"'))), ',"session_id":', if(isNull(session_id), 'null', assumeNotNull(concat('"', toString(session_id), '"'))), ',"session_name":', if(isNull(nullIf(session_name, '')), 'null', assumeNotNull(toJSONString(nullIf(session_name, '')))), ',"project_id":', toJSONString(project_id), ',"name":', toJSONString(name), ',"kind":', toJSONString(kind), ',"status":', if(isNull(nullIf(status, '')), 'null', assumeNotNull(toJSONString(nullIf(status, '')))), ',"started_at":', concat('"', replaceOne(toString(started_at), ' ', 'T'), 'Z"'), ',"ended_at":', if(isNull(ended_at), 'null', assumeNotNull(concat('"', replaceOne(toString(ended_at), ' ', 'T'), 'Z"'))), ',"duration_ms":', if(isNull(duration_ms), 'null', assumeNotNull(toString(duration_ms))), ',"cost":', if(isNull(cost), 'null', assumeNotNull(toString(cost))), ',"input_data":', if(isNull(input_data), 'null', assumeNotNull(toJSONString(input_data))), ',"output_data":', if(isNull(output_data), 'null', assumeNotNull(toJSONString(output_data))), ',"attributes":', if(attributes = '', '{}', attributes), ',"tags":', toJSONString(tags), ',"trace_tags":', toJSONString(trace_tags), ',"session_tags":', toJSONString(session_tags), ',"error_code":', if(isNull(error_code), 'null', assumeNotNull(toJSONString(error_code))), ',"error_message":', if(isNull(error_message), 'null', assumeNotNull(toJSONString(error_message))), ',"error_stack":', if(isNull(error_stack), 'null', assumeNotNull(toJSONString(error_stack))), ',"code_filepath":', if(isNull(code_filepath), 'null', assumeNotNull(toJSONString(code_filepath))), ',"code_lineno":', if(isNull(code_lineno), 'null', assumeNotNull(toString(code_lineno))), ',"has_error":', if(has_error, 'true', 'false'), ',"created_at":', concat('"', replaceOne(toString(fromUnixTimestamp64Micro(toInt64(ver + toUInt64('1735689600000000')), 'UTC')), ' ', 'T'), 'Z"'), '}') AS row
FROM spans
WHERE project_id = {p1:String}
  AND identity(ver) <= {p2:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p3:String} AND next_ver <= {p4:UInt64})
  AND identity(ver) NOT IN (SELECT arrayJoin(arraySlice(arrayReverseSort(groupUniqArray(ver)), 2)) FROM facts
    WHERE project_id = {p5:String} AND trace_id IN {p6:Array(UUID)} AND ver <= {p7:UInt64} AND row_type = 0 GROUP BY trace_id, id)
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p8:UInt64} OFFSET {p9:UInt64}
FORMAT CustomSeparated SETTINGS format_custom_escaping_rule = 'Raw', format_custom_result_before_delimiter = '[', format_custom_result_after_delimiter = ']', format_custom_row_before_delimiter = '', format_custom_row_after_delimiter = '', format_custom_row_between_delimiter = ',
'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 50000000000000
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = 50000000000000
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = ["00000000-0000-4000-8000-000000000001"]
-- p7 = 50000000000000
-- p8 = 50
-- p9 = 0
