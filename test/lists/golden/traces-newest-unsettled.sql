WITH (SELECT (min(started_at), count()) FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p1:String} ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p2:UInt64})) AS boundary
SELECT id, session_id, toJSONString(project_id), toJSONString(name), status, started_at, ended_at, duration_ms, cost, span_count, error_count, toJSONString(CAST(NULL, 'Nullable(String)')), toJSONString(CAST(NULL, 'Nullable(String)')), toJSONString(CAST(NULL, 'Nullable(String)')), toJSONString(tags), if(attributes = '', '{}', attributes), toBool((status = 'error')), fromUnixTimestamp64Micro(toInt64(created_ver + toUInt64('1735689600000000')), 'UTC'), input_tokens, output_tokens
FROM (
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, internal FROM (
  SELECT * FROM traces WHERE project_id = {p3:String} AND id IN (SELECT id FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p4:String} ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p5:UInt64})) ORDER BY id, ver DESC LIMIT 1 BY id
) WHERE project_id = {p6:String} AND id NOT IN {p7:Array(UUID)}
  UNION ALL
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, toUInt8((mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground'))) AS internal FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id,
  if(statements > 0, stated_as.2, oldest.4) AS name,
  multiIf(stated_as.3 != '', stated_as.3, errors > 0, 'error', oks > 0, 'ok', 'unset') AS status,
  if(statements > 0, stated_as.4, first_start) AS started_at,
  coalesce(stated_as.5, last_end) AS ended_at,
  coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_as.7, costs) AS cost,
  spans AS span_count,
  errors AS error_count,
  mapUpdate(mapApply((k, v) -> (k, v.2), tag_writes), stated_as.8) AS tags,
  stated_as.9 AS attributes,
  first_ver AS created_ver,
  if(spans > 0 AND NOT oldest.1, oldest.5, 0) AS root_ver,
  if(root_ver > 0, oldest.2, toDateTime64(0, 6, 'UTC')) AS root_started_at,
  inputs AS input_tokens,
  outputs AS output_tokens
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    min(if(row_type = 2, origin_ver, ver)) AS first_ver,
    sumIf(input_tokens, live) AS inputs,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live AND status = 'ok') AS oks,
    minIf((isNotNull(parent_span_id), started_at, id, name, ver), live) AS oldest,
    sumIf(output_tokens, live) AS outputs,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live) AS tag_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT ver, project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        trace_tags, attributes, origin_ver,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p8:String} AND trace_id IN {p7:Array(UUID)} AND ver <= {p9:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
)
WHERE project_id = {p10:String}
  AND NOT gone
  AND (boundary.2 < {p11:UInt64} OR started_at > boundary.1)
  AND NOT internal
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p12:UInt64} OFFSET {p13:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON},"session_id":${1:JSON},"project_id":${2:Raw},"name":${3:Raw},"status":${4:JSON},"started_at":${5:JSON},"ended_at":${6:JSON},"duration_ms":${7:JSON},"cost":${8:JSON},"span_count":${9:JSON},"error_count":${10:JSON},"root_span_input":${11:Raw},"root_span_output":${12:Raw},"root_span_error":${13:Raw},"tags":${14:Raw},"attributes":${15:Raw},"has_error":${16:JSON},"created_at":${17:JSON},"input_tokens":${18:JSON},"output_tokens":${19:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 600
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 600
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = ["00000000-0000-4000-8000-000000000001"]
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = 50000000000000
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = 600
-- p12 = 50
-- p13 = 0
