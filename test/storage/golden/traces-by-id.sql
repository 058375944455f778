SELECT concat('{"id":', concat('"', toString(id), '"'), ',"session_id":', if(isNull(session_id), 'null', assumeNotNull(concat('"', toString(session_id), '"'))), ',"project_id":', toJSONString(project_id), ',"name":', toJSONString(name), ',"status":', toJSONString(status), ',"started_at":', concat('"', replaceOne(toString(started_at), ' ', 'T'), 'Z"'), ',"ended_at":', if(isNull(ended_at), 'null', assumeNotNull(concat('"', replaceOne(toString(ended_at), ' ', 'T'), 'Z"'))), ',"duration_ms":', if(isNull(duration_ms), 'null', assumeNotNull(toString(duration_ms))), ',"cost":', if(isNull(cost), 'null', assumeNotNull(toString(cost))), ',"span_count":', toString(span_count), ',"error_count":', toString(error_count), ',"root_span_input":', if(isNull(CAST(NULL, 'Nullable(String)')), 'null', assumeNotNull(toJSONString(CAST(NULL, 'Nullable(String)')))), ',"root_span_output":', if(isNull(CAST(NULL, 'Nullable(String)')), 'null', assumeNotNull(toJSONString(CAST(NULL, 'Nullable(String)')))), ',"tags":', toJSONString(tags), ',"attributes":', if(attributes = '', '{}', attributes), ',"has_error":', if((status = 'error'), 'true', 'false'), ',"created_at":', concat('"', replaceOne(toString(fromUnixTimestamp64Micro(toInt64(created_ver + toUInt64('1735689600000000')), 'UTC')), ' ', 'T'), 'Z"'), '}') AS row
FROM (
  SELECT * FROM traces WHERE project_id = {p1:String} AND id IN {p2:Array(UUID)} ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p3:String}
  AND NOT gone
  AND id = {p4:UUID}
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p5:UInt64} OFFSET {p6:UInt64}
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = ["00000000-0000-4000-8000-000000000001"]
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "00000000-0000-4000-8000-000000000001"
-- p5 = 50
-- p6 = 0
