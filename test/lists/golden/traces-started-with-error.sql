SELECT id
FROM (
  SELECT * FROM traces WHERE project_id = {p1:String} AND id IN (SELECT id FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p2:String} AND started_at >= fromUnixTimestamp64Micro({p3:Int64}, 'UTC'))) ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p4:String}
  AND NOT gone
  AND NOT internal
  AND started_at >= fromUnixTimestamp64Micro({p5:Int64}, 'UTC')
  AND (status = 'error') = {p6:UInt8}
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p7:UInt64} OFFSET {p8:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = 1769817600000000
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 1769817600000000
-- p6 = 1
-- p7 = 50
-- p8 = 0
