SELECT id
FROM traces FINAL
WHERE project_id = {p1:String}
  AND NOT gone
  AND session_id = {p2:UUID}
  AND status = {p3:String}
  AND duration_ms >= {p4:Float64}
  AND cost <= {p5:Decimal(38, 12)}
  AND id IN (SELECT trace_id AS id FROM spans
  WHERE project_id = {p6:String} AND (positionCaseInsensitiveUTF8(payload, {p7:String}) > 0
  AND (positionCaseInsensitiveUTF8(ifNull(input_data, ''), {p7:String}) > 0 OR positionCaseInsensitiveUTF8(ifNull(output_data, ''), {p7:String}) > 0)) AND identity(ver) <= {p8:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p9:String} AND next_ver <= {p8:UInt64}))
  AND ((mapContains(tags, {p10:String}) AND has({p11:Array(String)}, tags[{p10:String}]) AND hasAny(mapValues(tags), {p11:Array(String)})) OR id IN (SELECT id FROM (SELECT trace_id AS id, (mapContains(tags, {p10:String}) AND has({p11:Array(String)}, tags[{p10:String}]) AND hasAny(mapValues(tags), {p11:Array(String)})) AS tag_0 FROM spans
  WHERE project_id = {p12:String} AND ((mapContains(tags, {p10:String}) AND has({p11:Array(String)}, tags[{p10:String}]) AND hasAny(mapValues(tags), {p11:Array(String)}))) AND identity(ver) <= {p13:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p14:String} AND next_ver <= {p13:UInt64}))))
ORDER BY duration_ms DESC NULLS LAST, id DESC
LIMIT {p15:UInt64} OFFSET {p16:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "00000000-0000-4000-8000-000000000001"
-- p3 = "error"
-- p4 = 1000
-- p5 = "2.000000000000"
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = "refund"
-- p8 = 50000000000000
-- p9 = "0197f3a0-0000-7000-8000-000000000001"
-- p10 = "service"
-- p11 = ["api"]
-- p12 = "0197f3a0-0000-7000-8000-000000000001"
-- p13 = 50000000000000
-- p14 = "0197f3a0-0000-7000-8000-000000000001"
-- p15 = 50
-- p16 = 0
