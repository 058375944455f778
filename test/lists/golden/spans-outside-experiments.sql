SELECT id
FROM spans
WHERE project_id = {p1:String}
  AND NOT internal
  AND identity(trace_id) NOT IN (SELECT marked_trace FROM (SELECT trace_id, made_in FROM experiment_spans
  WHERE project_id = {p2:String} AND identity(ver) <= {p3:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p4:String} AND next_ver <= {p3:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p5:String} AND trace_id IN {p6:Array(UUID)} AND ver <= {p7:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)) ARRAY JOIN [trace_id, made_in] AS marked_trace)
  AND identity(ver) <= {p8:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p9:String} AND next_ver <= {p8:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p10:String} AND trace_id IN {p11:Array(UUID)} AND ver <= {p12:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p13:UInt64} OFFSET {p14:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = 50000000000000
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = ["00000000-0000-4000-8000-000000000001"]
-- p7 = 50000000000000
-- p8 = 50000000000000
-- p9 = "0197f3a0-0000-7000-8000-000000000001"
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = ["00000000-0000-4000-8000-000000000001"]
-- p12 = 50000000000000
-- p13 = 5000
-- p14 = 0
