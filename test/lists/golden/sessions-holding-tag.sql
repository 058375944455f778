WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p2:String} AND member AND session_id IN ('00000000-0000-4000-8000-000000000001'))) AND row_type = 0 AND NOT deleted) AS bounds
SELECT id FROM (
  SELECT * FROM sessions WHERE project_id = {p3:String} AND id IN {p4:Array(UUID)} ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p5:String}
  AND NOT gone
  AND ((mapContains(tags, {p6:String}) AND has({p7:Array(String)}, tags[{p6:String}]) AND hasAny(mapValues(tags), {p7:Array(String)})) OR id IN (SELECT id FROM (SELECT session_id AS id, tag_0
  FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p8:String} AND member AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p9:String} AND member AND session_id IN ('00000000-0000-4000-8000-000000000001')))) AS membership
  INNER JOIN (SELECT id AS trace, max(tag_0) AS tag_0 FROM (SELECT id, (mapContains(tags, {p6:String}) AND has({p7:Array(String)}, tags[{p6:String}]) AND hasAny(mapValues(tags), {p7:Array(String)})) AS tag_0 FROM traces FINAL
  WHERE project_id = {p10:String} AND NOT gone AND id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p9:String} AND member AND session_id IN ('00000000-0000-4000-8000-000000000001'))) AND ((mapContains(tags, {p6:String}) AND has({p7:Array(String)}, tags[{p6:String}]) AND hasAny(mapValues(tags), {p7:Array(String)})))
  UNION ALL
  SELECT trace_id AS id, (mapContains(tags, {p6:String}) AND has({p7:Array(String)}, tags[{p6:String}]) AND hasAny(mapValues(tags), {p7:Array(String)})) AS tag_0 FROM spans
  WHERE project_id = {p11:String} AND started_at >= bounds.1 AND started_at <= bounds.2 AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p9:String} AND member AND session_id IN ('00000000-0000-4000-8000-000000000001'))) AND ((mapContains(tags, {p6:String}) AND has({p7:Array(String)}, tags[{p6:String}]) AND hasAny(mapValues(tags), {p7:Array(String)}))) AND identity(ver) <= {p12:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p13:String} AND next_ver <= {p12:UInt64})) GROUP BY id) AS held
  ON held.trace = membership.trace_id)))
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = ["00000000-0000-4000-8000-000000000001"]
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = "service"
-- p7 = ["api"]
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = "0197f3a0-0000-7000-8000-000000000001"
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = "0197f3a0-0000-7000-8000-000000000001"
-- p12 = 50000000000000
-- p13 = "0197f3a0-0000-7000-8000-000000000001"
