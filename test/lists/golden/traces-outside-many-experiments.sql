WITH (SELECT (min(started_at), count()) FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p1:String} AND identity(id) NOT IN (SELECT marked_trace FROM (SELECT trace_id, made_in FROM experiment_spans
  WHERE project_id = {p2:String} AND identity(ver) <= {p3:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p4:String} AND next_ver <= {p3:UInt64})) ARRAY JOIN [trace_id, made_in] AS marked_trace) ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p5:UInt64})) AS boundary
SELECT id
FROM (
  SELECT * FROM traces WHERE project_id = {p6:String} AND id IN (SELECT id FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p7:String} AND identity(id) NOT IN (SELECT marked_trace FROM (SELECT trace_id, made_in FROM experiment_spans
  WHERE project_id = {p8:String} AND identity(ver) <= {p9:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p10:String} AND next_ver <= {p9:UInt64})) ARRAY JOIN [trace_id, made_in] AS marked_trace) ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p11:UInt64})) ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p12:String}
  AND NOT gone
  AND (boundary.2 < {p13:UInt64} OR started_at > boundary.1)
  AND NOT internal
  AND identity(id) NOT IN (SELECT marked_trace FROM (SELECT trace_id, made_in FROM experiment_spans
  WHERE project_id = {p14:String} AND identity(ver) <= {p15:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p16:String} AND next_ver <= {p15:UInt64})) ARRAY JOIN [trace_id, made_in] AS marked_trace)
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p17:UInt64} OFFSET {p18:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = 50000000000000
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 600
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = "0197f3a0-0000-7000-8000-000000000001"
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = 50000000000000
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = 600
-- p12 = "0197f3a0-0000-7000-8000-000000000001"
-- p13 = 600
-- p14 = "0197f3a0-0000-7000-8000-000000000001"
-- p15 = 50000000000000
-- p16 = "0197f3a0-0000-7000-8000-000000000001"
-- p17 = 50
-- p18 = 0
