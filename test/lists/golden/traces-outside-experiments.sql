WITH (SELECT (min(started_at), count()) FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p1:String} AND identity(id) NOT IN (SELECT marked_trace FROM (SELECT trace_id, made_in FROM experiment_spans
  WHERE project_id = {p2:String} AND identity(ver) <= {p3:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p4:String} AND next_ver <= {p3:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p5:String} AND trace_id IN {p6:Array(UUID)} AND ver <= {p7:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)) ARRAY JOIN [trace_id, made_in] AS marked_trace) ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p8:UInt64})) AS boundary
SELECT id
FROM (
  SELECT * FROM traces WHERE project_id = {p9:String} AND id IN (SELECT id FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p10:String} AND identity(id) NOT IN (SELECT marked_trace FROM (SELECT trace_id, made_in FROM experiment_spans
  WHERE project_id = {p11:String} AND identity(ver) <= {p12:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p13:String} AND next_ver <= {p12:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p14:String} AND trace_id IN {p15:Array(UUID)} AND ver <= {p16:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)) ARRAY JOIN [trace_id, made_in] AS marked_trace) ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p17:UInt64})) ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p18:String}
  AND NOT gone
  AND (boundary.2 < {p19:UInt64} OR started_at > boundary.1)
  AND NOT internal
  AND identity(id) NOT IN (SELECT marked_trace FROM (SELECT trace_id, made_in FROM experiment_spans
  WHERE project_id = {p20:String} AND identity(ver) <= {p21:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p22:String} AND next_ver <= {p21:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p23:String} AND trace_id IN {p24:Array(UUID)} AND ver <= {p25:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)) ARRAY JOIN [trace_id, made_in] AS marked_trace)
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p26:UInt64} OFFSET {p27:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = 50000000000000
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = ["00000000-0000-4000-8000-000000000001"]
-- p7 = 50000000000000
-- p8 = 600
-- p9 = "0197f3a0-0000-7000-8000-000000000001"
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = "0197f3a0-0000-7000-8000-000000000001"
-- p12 = 50000000000000
-- p13 = "0197f3a0-0000-7000-8000-000000000001"
-- p14 = "0197f3a0-0000-7000-8000-000000000001"
-- p15 = ["00000000-0000-4000-8000-000000000001"]
-- p16 = 50000000000000
-- p17 = 600
-- p18 = "0197f3a0-0000-7000-8000-000000000001"
-- p19 = 600
-- p20 = "0197f3a0-0000-7000-8000-000000000001"
-- p21 = 50000000000000
-- p22 = "0197f3a0-0000-7000-8000-000000000001"
-- p23 = "0197f3a0-0000-7000-8000-000000000001"
-- p24 = ["00000000-0000-4000-8000-000000000001"]
-- p25 = 50000000000000
-- p26 = 50
-- p27 = 0
