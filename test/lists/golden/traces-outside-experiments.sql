WITH (SELECT (min(started_at), count()) FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p1:String} ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p2:UInt64})) AS boundary
SELECT id
FROM (
  SELECT * FROM traces WHERE project_id = {p3:String} AND id IN (SELECT id FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p4:String} ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p5:UInt64})) ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p6:String}
  AND NOT gone
  AND (boundary.2 < {p7:UInt64} OR started_at > boundary.1)
  AND NOT internal
  AND identity(id) NOT IN (SELECT marked_trace FROM (SELECT trace_id, made_in FROM experiment_spans
  WHERE project_id = {p8:String} AND identity(ver) <= {p9:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p10:String} AND next_ver <= {p9:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p11:String} AND trace_id IN {p12:Array(UUID)} AND ver <= {p13:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)) ARRAY JOIN [trace_id, made_in] AS marked_trace)
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p14:UInt64} OFFSET {p15:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 600
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 600
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = 600
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = 50000000000000
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = "0197f3a0-0000-7000-8000-000000000001"
-- p12 = ["00000000-0000-4000-8000-000000000001"]
-- p13 = 50000000000000
-- p14 = 50
-- p15 = 0
