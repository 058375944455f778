SELECT id
FROM spans
WHERE project_id = {p1:String}
  AND (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p4:String}]) AND hasAny(mapValues(tags), {p5:Array(String)}))
  AND (mapContains(tags, {p6:String}) AND has({p7:Array(String)}, tags[{p8:String}]) AND hasAny(mapValues(tags), {p9:Array(String)}))
  AND (arrayExists((k, v) -> k = '' AND has({p10:Array(String)}, v), mapKeys(tags), mapValues(tags)) AND hasAny(mapValues(tags), {p11:Array(String)}))
  AND (positionCaseInsensitiveUTF8(payload, {p12:String}) > 0
  AND (positionCaseInsensitiveUTF8(ifNull(input_data, ''), {p13:String}) > 0 OR positionCaseInsensitiveUTF8(ifNull(output_data, ''), {p14:String}) > 0))
  AND identity(ver) <= {p15:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p16:String} AND next_ver <= {p17:UInt64})
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p18:UInt64} OFFSET {p19:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "environment"
-- p3 = ["prod","test"]
-- p4 = "environment"
-- p5 = ["prod","test"]
-- p6 = "limit"
-- p7 = ["it's"]
-- p8 = "limit"
-- p9 = ["it's"]
-- p10 = ["x"]
-- p11 = ["x"]
-- p12 = "refund"
-- p13 = "refund"
-- p14 = "refund"
-- p15 = 50000000000000
-- p16 = "0197f3a0-0000-7000-8000-000000000001"
-- p17 = 50000000000000
-- p18 = 5000
-- p19 = 0
