SELECT id
FROM spans
WHERE project_id = {p1:String}
  AND NOT internal
  AND experiment_id = {p2:UUID}
  AND identity(ver) <= {p3:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p4:String} AND next_ver <= {p3:UInt64})
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p5:UInt64} OFFSET {p6:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "00000000-0000-4000-8000-000000000001"
-- p3 = 50000000000000
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 5000
-- p6 = 0
