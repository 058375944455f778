SELECT id
FROM traces FINAL
WHERE project_id = {p1:String}
  AND NOT gone
  AND session_id = {p2:UUID}
  AND status = {p3:String}
  AND duration_ms >= {p4:Float64}
  AND cost <= {p5:Decimal(38, 12)}
  AND (mapContains(tags, {p6:String}) AND has({p7:Array(String)}, tags[{p8:String}]) AND hasAny(mapValues(tags), {p9:Array(String)}))
  AND id IN (SELECT trace_id AS id FROM spans WHERE project_id = {p10:String} AND (positionCaseInsensitiveUTF8(payload, {p11:String}) > 0
  AND (positionCaseInsensitiveUTF8(ifNull(input_data, ''), {p12:String}) > 0 OR positionCaseInsensitiveUTF8(ifNull(output_data, ''), {p13:String}) > 0)) AND identity(ver) <= {p14:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p15:String} AND next_ver <= {p16:UInt64}))
ORDER BY duration_ms DESC NULLS LAST, id DESC
LIMIT {p17:UInt64} OFFSET {p18:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "00000000-0000-4000-8000-000000000001"
-- p3 = "error"
-- p4 = 1000
-- p5 = "2.000000000000"
-- p6 = "service"
-- p7 = ["api"]
-- p8 = "service"
-- p9 = ["api"]
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = "refund"
-- p12 = "refund"
-- p13 = "refund"
-- p14 = 50000000000000
-- p15 = "0197f3a0-0000-7000-8000-000000000001"
-- p16 = 50000000000000
-- p17 = 50
-- p18 = 0
