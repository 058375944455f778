SELECT id
FROM traces FINAL
WHERE project_id = {p1:String}
  AND NOT gone
  AND NOT internal
  AND id IN (SELECT marked_trace FROM (SELECT trace_id, made_in FROM experiment_spans
  WHERE project_id = {p2:String} AND experiment_id = {p3:UUID} AND identity(ver) <= {p4:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p5:String} AND next_ver <= {p4:UInt64})) ARRAY JOIN [trace_id, made_in] AS marked_trace)
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p6:UInt64} OFFSET {p7:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = "00000000-0000-4000-8000-000000000001"
-- p4 = 50000000000000
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = 50
-- p7 = 0
