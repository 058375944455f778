SELECT id
FROM spans
WHERE project_id = {p1:String}
  AND NOT internal
  AND (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)}))
  AND (mapContains(tags, {p4:String}) AND has({p5:Array(String)}, tags[{p4:String}]) AND hasAny(mapValues(tags), {p5:Array(String)}))
  AND (arrayExists((k, v) -> k = '' AND has({p6:Array(String)}, v), mapKeys(tags), mapValues(tags)) AND hasAny(mapValues(tags), {p6:Array(String)}))
  AND (((positionCaseInsensitive(payload, {p7:String}) > 0 AND ((positionCaseInsensitive(ifNull(input_data, ''), {p8:String}) > 0) OR (positionCaseInsensitive(ifNull(output_data, ''), {p9:String}) > 0))) OR (positionCaseInsensitive(ifNull(error_message, ''), {p10:String}) > 0) OR (positionCaseInsensitive(ifNull(error_code, ''), {p11:String}) > 0)))
  AND identity(ver) <= {p12:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p13:String} AND next_ver <= {p12:UInt64})
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p14:UInt64} OFFSET {p15:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "environment"
-- p3 = ["prod","test"]
-- p4 = "limit"
-- p5 = ["it's"]
-- p6 = ["x"]
-- p7 = "refund"
-- p8 = "refund"
-- p9 = "refund"
-- p10 = "refund"
-- p11 = "refund"
-- p12 = 50000000000000
-- p13 = "0197f3a0-0000-7000-8000-000000000001"
-- p14 = 5000
-- p15 = 0
