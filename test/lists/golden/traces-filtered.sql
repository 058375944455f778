SELECT id
FROM traces FINAL
WHERE project_id = {p1:String}
  AND NOT gone
  AND session_id = {p2:UUID}
  AND status = {p3:String}
  AND duration_ms >= {p4:Float64}
  AND cost <= {p5:Decimal(38, 12)}
  AND id IN (SELECT trace_id AS id FROM spans
  WHERE project_id = {p6:String} AND (((positionCaseInsensitive(payload, {p7:String}) > 0 AND ((positionCaseInsensitive(ifNull(input_data, ''), {p8:String}) > 0) OR (positionCaseInsensitive(ifNull(output_data, ''), {p9:String}) > 0))) OR (positionCaseInsensitive(ifNull(error_message, ''), {p10:String}) > 0) OR (positionCaseInsensitive(ifNull(error_code, ''), {p11:String}) > 0))) AND identity(ver) <= {p12:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p13:String} AND next_ver <= {p12:UInt64}))
  AND ((mapContains(tags, {p14:String}) AND has({p15:Array(String)}, tags[{p14:String}]) AND hasAny(mapValues(tags), {p15:Array(String)})) OR id IN (SELECT id FROM (SELECT trace_id AS id, (mapContains(tags, {p14:String}) AND has({p15:Array(String)}, tags[{p14:String}]) AND hasAny(mapValues(tags), {p15:Array(String)})) AS tag_0 FROM spans
  WHERE project_id = {p16:String} AND ((mapContains(tags, {p14:String}) AND has({p15:Array(String)}, tags[{p14:String}]) AND hasAny(mapValues(tags), {p15:Array(String)}))) AND identity(ver) <= {p17:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p18:String} AND next_ver <= {p17:UInt64}))))
ORDER BY duration_ms DESC NULLS LAST, id DESC
LIMIT {p19:UInt64} OFFSET {p20:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "00000000-0000-4000-8000-000000000001"
-- p3 = "error"
-- p4 = 1000
-- p5 = "2.000000000000"
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = "refund"
-- p8 = "refund"
-- p9 = "refund"
-- p10 = "refund"
-- p11 = "refund"
-- p12 = 50000000000000
-- p13 = "0197f3a0-0000-7000-8000-000000000001"
-- p14 = "service"
-- p15 = ["api"]
-- p16 = "0197f3a0-0000-7000-8000-000000000001"
-- p17 = 50000000000000
-- p18 = "0197f3a0-0000-7000-8000-000000000001"
-- p19 = 50
-- p20 = 0
