SELECT id
FROM spans
WHERE project_id = {p1:String}
  AND NOT internal
  AND (((started_at >= fromUnixTimestamp64Micro({p2:Int64}, 'UTC') AND started_at <= fromUnixTimestamp64Micro({p3:Int64}, 'UTC')) OR (started_at >= fromUnixTimestamp64Micro({p4:Int64}, 'UTC') AND started_at <= fromUnixTimestamp64Micro({p5:Int64}, 'UTC'))) AND ((positionCaseInsensitive(payload, {p6:String}) > 0 AND ((positionCaseInsensitive(ifNull(input_data, ''), {p7:String}) > 0) OR (positionCaseInsensitive(ifNull(output_data, ''), {p8:String}) > 0))) OR (positionCaseInsensitive(ifNull(error_message, ''), {p9:String}) > 0) OR (positionCaseInsensitive(ifNull(error_code, ''), {p10:String}) > 0)))
  AND identity(ver) <= {p11:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p12:String} AND next_ver <= {p11:UInt64})
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p13:UInt64} OFFSET {p14:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 1769853600000001
-- p3 = 1769853700000000
-- p4 = 1769900000000000
-- p5 = 1769900000000000
-- p6 = "refund"
-- p7 = "refund"
-- p8 = "refund"
-- p9 = "refund"
-- p10 = "refund"
-- p11 = 50000000000000
-- p12 = "0197f3a0-0000-7000-8000-000000000001"
-- p13 = 5000
-- p14 = 0
