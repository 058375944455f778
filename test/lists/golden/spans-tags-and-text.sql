SELECT id
FROM spans
WHERE project_id = {p1:String}
  AND NOT internal
  AND (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)}))
  AND (mapContains(tags, {p4:String}) AND has({p5:Array(String)}, tags[{p4:String}]) AND hasAny(mapValues(tags), {p5:Array(String)}))
  AND (arrayExists((k, v) -> k = '' AND has({p6:Array(String)}, v), mapKeys(tags), mapValues(tags)) AND hasAny(mapValues(tags), {p6:Array(String)}))
  AND (positionCaseInsensitiveUTF8(payload, {p7:String}) > 0
  AND (positionCaseInsensitiveUTF8(ifNull(input_data, ''), {p7:String}) > 0 OR positionCaseInsensitiveUTF8(ifNull(output_data, ''), {p7:String}) > 0))
  AND identity(ver) <= {p8:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p9:String} AND next_ver <= {p8:UInt64})
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p10:UInt64} OFFSET {p11:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "environment"
-- p3 = ["prod","test"]
-- p4 = "limit"
-- p5 = ["it's"]
-- p6 = ["x"]
-- p7 = "refund"
-- p8 = 50000000000000
-- p9 = "0197f3a0-0000-7000-8000-000000000001"
-- p10 = 5000
-- p11 = 0
