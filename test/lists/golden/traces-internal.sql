SELECT id
FROM traces FINAL
WHERE project_id = {p1:String}
  AND NOT gone
  AND started_at <= fromUnixTimestamp64Micro({p2:Int64}, 'UTC')
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p3:UInt64} OFFSET {p4:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 1769817600000000
-- p3 = 50
-- p4 = 0
