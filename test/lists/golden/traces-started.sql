WITH (SELECT (min(started_at), count()) FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p1:String} AND started_at >= fromUnixTimestamp64Micro({p2:Int64}, 'UTC') ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p3:UInt64})) AS boundary
SELECT id
FROM (
  SELECT * FROM traces WHERE project_id = {p4:String} AND id IN (SELECT id FROM (SELECT started_at, id FROM trace_starts WHERE project_id = {p5:String} AND started_at >= fromUnixTimestamp64Micro({p6:Int64}, 'UTC') ORDER BY project_id DESC, started_at DESC, id DESC LIMIT {p7:UInt64})) ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p8:String}
  AND NOT gone
  AND (boundary.2 < {p9:UInt64} OR started_at > boundary.1)
  AND NOT internal
  AND started_at >= fromUnixTimestamp64Micro({p10:Int64}, 'UTC')
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p11:UInt64} OFFSET {p12:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 1769817600000000
-- p3 = 360
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = 1769817600000000
-- p7 = 360
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = 360
-- p10 = 1769817600000000
-- p11 = 20
-- p12 = 0
