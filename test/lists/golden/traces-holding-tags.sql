WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p1:String} AND trace_id IN ('00000000-0000-4000-8000-000000000001') AND row_type = 0 AND NOT deleted) AS bounds
SELECT id FROM (
  SELECT * FROM traces WHERE project_id = {p2:String} AND id IN {p3:Array(UUID)} ORDER BY id, ver DESC LIMIT 1 BY id
)
WHERE project_id = {p4:String}
  AND NOT gone
  AND id IN (SELECT id FROM (SELECT id, (mapContains(tags, {p5:String}) AND has({p6:Array(String)}, tags[{p5:String}]) AND hasAny(mapValues(tags), {p6:Array(String)})) AS tag_0, (mapContains(tags, {p7:String}) AND has({p8:Array(String)}, tags[{p7:String}]) AND hasAny(mapValues(tags), {p8:Array(String)})) AS tag_1 FROM traces FINAL
  WHERE project_id = {p9:String} AND NOT gone AND id IN ('00000000-0000-4000-8000-000000000001') AND ((mapContains(tags, {p5:String}) AND has({p6:Array(String)}, tags[{p5:String}]) AND hasAny(mapValues(tags), {p6:Array(String)})) OR (mapContains(tags, {p7:String}) AND has({p8:Array(String)}, tags[{p7:String}]) AND hasAny(mapValues(tags), {p8:Array(String)})))
  UNION ALL
  SELECT trace_id AS id, (mapContains(tags, {p5:String}) AND has({p6:Array(String)}, tags[{p5:String}]) AND hasAny(mapValues(tags), {p6:Array(String)})) AS tag_0, (mapContains(tags, {p7:String}) AND has({p8:Array(String)}, tags[{p7:String}]) AND hasAny(mapValues(tags), {p8:Array(String)})) AS tag_1 FROM spans
  WHERE project_id = {p10:String} AND started_at >= bounds.1 AND started_at <= bounds.2 AND trace_id IN ('00000000-0000-4000-8000-000000000001') AND ((mapContains(tags, {p5:String}) AND has({p6:Array(String)}, tags[{p5:String}]) AND hasAny(mapValues(tags), {p6:Array(String)})) OR (mapContains(tags, {p7:String}) AND has({p8:Array(String)}, tags[{p7:String}]) AND hasAny(mapValues(tags), {p8:Array(String)}))) AND identity(ver) <= {p11:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p12:String} AND next_ver <= {p11:UInt64})) GROUP BY id HAVING max(tag_0) AND max(tag_1))
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = ["00000000-0000-4000-8000-000000000001"]
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = "service"
-- p6 = ["api"]
-- p7 = "user"
-- p8 = ["1","2"]
-- p9 = "0197f3a0-0000-7000-8000-000000000001"
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = 50000000000000
-- p12 = "0197f3a0-0000-7000-8000-000000000001"
