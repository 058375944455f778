WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id = {p2:UUID} AND row_type = 0 AND NOT deleted) AS bounds
SELECT id
FROM spans
WHERE project_id = {p3:String}
  AND started_at >= bounds.1
  AND started_at <= bounds.2
  AND id = {p4:UUID}
  AND trace_id = {p5:UUID}
  AND parent_span_id = {p6:UUID}
  AND kind = {p7:String}
  AND nullIf(status, '') = {p8:String}
  AND error_code IN ({p9:String}, {p10:String})
  AND ver >= {p11:Int64} AND if(received_ver = 0, ver, received_ver) >= {p12:Int64}
  AND if(received_ver = 0, ver, received_ver) <= {p13:Int64}
  AND name IN ({p14:String}, {p15:String})
  AND has_error = {p16:UInt8}
  AND duration_ms >= {p17:Float64}
  AND duration_ms <= {p18:Float64}
  AND cost >= {p19:Decimal(38, 12)}
  AND cost <= {p20:Decimal(38, 12)}
  AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p21:String} AND member AND session_id IN ({p22:UUID})))
  AND identity(ver) <= {p23:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p24:String} AND next_ver <= {p23:UInt64})
ORDER BY project_id DESC, started_at DESC, trace_id DESC, id DESC
LIMIT {p25:UInt64} OFFSET {p26:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '[${data}]', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = ',\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "00000000-0000-4000-8000-000000000001"
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = "00000000-0000-4000-8000-000000000001"
-- p5 = "00000000-0000-4000-8000-000000000001"
-- p6 = "00000000-0000-4000-8000-000000000001"
-- p7 = "llm"
-- p8 = "ok"
-- p9 = "a"
-- p10 = "b"
-- p11 = 34164000000001
-- p12 = 34164000000001
-- p13 = 34214400000000
-- p14 = "a,b"
-- p15 = "c"
-- p16 = 1
-- p17 = 1
-- p18 = 2.5
-- p19 = "0.100000000000"
-- p20 = "0.000000000001"
-- p21 = "0197f3a0-0000-7000-8000-000000000001"
-- p22 = "00000000-0000-4000-8000-000000000001"
-- p23 = 50000000000000
-- p24 = "0197f3a0-0000-7000-8000-000000000001"
-- p25 = 5000
-- p26 = 0
