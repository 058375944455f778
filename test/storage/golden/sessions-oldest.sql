WITH (SELECT (max(created_ver), count()) FROM (SELECT created_ver, id FROM session_starts WHERE project_id = {p1:String} ORDER BY project_id ASC, created_ver ASC, id ASC LIMIT {p2:UInt64})) AS edge
SELECT concat('{"id":', concat('"', toString(id), '"'), ',"project_id":', toJSONString(project_id), ',"name":', if(isNull(nullIf(name, '')), 'null', assumeNotNull(toJSONString(nullIf(name, '')))), ',"trace_count":', toString(trace_count), ',"error_count":', toString(error_count), ',"cost":', if(isNull(cost), 'null', assumeNotNull(toString(cost))), ',"duration":', if(isNull(duration), 'null', assumeNotNull(toString(duration))), ',"started_at":', if(isNull(started_at), 'null', assumeNotNull(concat('"', replaceOne(toString(started_at), ' ', 'T'), 'Z"'))), ',"ended_at":', if(isNull(ended_at), 'null', assumeNotNull(concat('"', replaceOne(toString(ended_at), ' ', 'T'), 'Z"'))), ',"tags":', toJSONString(tags), ',"attributes":', if(attributes = '', '{}', attributes), ',"has_error":', if((error_count > 0), 'true', 'false'), ',"created_at":', concat('"', replaceOne(toString(fromUnixTimestamp64Micro(toInt64(created_ver + toUInt64('1735689600000000')), 'UTC')), ' ', 'T'), 'Z"'), '}') AS row
FROM (
  SELECT * FROM sessions WHERE project_id = {p3:String} AND id IN (SELECT id FROM (SELECT created_ver, id FROM session_starts WHERE project_id = {p4:String} ORDER BY project_id ASC, created_ver ASC, id ASC LIMIT {p5:UInt64})) ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p6:String}
  AND NOT gone
  AND (edge.2 < {p7:UInt64} OR created_ver < edge.1)
ORDER BY created_ver ASC NULLS LAST, id ASC
LIMIT {p8:UInt64} OFFSET {p9:UInt64}
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 248
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 248
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = 248
-- p8 = 2
-- p9 = 4
