WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p2:String} AND member AND session_id IN ({p3:UUID}) AND trace_id NOT IN {p4:Array(UUID)}
  UNION ALL
  SELECT assumeNotNull(session_id) AS session_id, id AS trace_id FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id
FROM (
  SELECT project_id, trace_id,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements
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
      WHERE project_id = {p5:String} AND trace_id IN {p4:Array(UUID)} AND ver <= {p6:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
  WHERE NOT gone AND isNotNull(session_id) AND session_id IN ({p3:UUID}))) AND row_type = 0 AND NOT deleted) AS bounds
SELECT id
FROM spans
WHERE project_id = {p7:String}
  AND started_at >= bounds.1
  AND started_at <= bounds.2
  AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p8:String} AND member AND session_id IN ({p9:UUID}) AND trace_id NOT IN {p10:Array(UUID)}
  UNION ALL
  SELECT assumeNotNull(session_id) AS session_id, id AS trace_id FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id
FROM (
  SELECT project_id, trace_id,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements
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
      WHERE project_id = {p11:String} AND trace_id IN {p10:Array(UUID)} AND ver <= {p12:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
  WHERE NOT gone AND isNotNull(session_id) AND session_id IN ({p9:UUID})))
  AND identity(ver) <= {p13:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p14:String} AND next_ver <= {p13:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p15:String} AND trace_id IN {p16:Array(UUID)} AND ver <= {p17:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p18:UInt64} OFFSET {p19:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = "00000000-0000-4000-8000-000000000001"
-- p4 = ["00000000-0000-4000-8000-000000000001"]
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = 50000000000000
-- p7 = "0197f3a0-0000-7000-8000-000000000001"
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = "00000000-0000-4000-8000-000000000001"
-- p10 = ["00000000-0000-4000-8000-000000000001"]
-- p11 = "0197f3a0-0000-7000-8000-000000000001"
-- p12 = 50000000000000
-- p13 = 50000000000000
-- p14 = "0197f3a0-0000-7000-8000-000000000001"
-- p15 = "0197f3a0-0000-7000-8000-000000000001"
-- p16 = ["00000000-0000-4000-8000-000000000001"]
-- p17 = 50000000000000
-- p18 = 5000
-- p19 = 0
