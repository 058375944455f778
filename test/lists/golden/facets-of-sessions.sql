SELECT toUInt8(ifNull(length(text), 0) > 4096) AS too_long, if(too_long, '', text) AS shown, count() AS objects, count() OVER () AS values
FROM (SELECT arrayJoin(texts) AS text FROM (SELECT if(empty(held.held), [NULL], held.held) AS texts
FROM (SELECT id AS object_id FROM sessions FINAL WHERE project_id = {p1:String}
  AND NOT gone
  AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) OR id IN (SELECT id FROM (SELECT session_id AS id, tag_0
  FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p4:String} AND member) AS membership
  INNER JOIN (SELECT id AS trace, max(tag_0) AS tag_0 FROM (SELECT id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM traces FINAL
  WHERE project_id = {p5:String} AND NOT gone AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})))
  UNION ALL
  SELECT trace_id AS id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM spans
  WHERE project_id = {p6:String} AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)}))) AND identity(ver) <= {p7:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p8:String} AND next_ver <= {p7:UInt64})) GROUP BY id) AS held
  ON held.trace = membership.trace_id)))) AS object
LEFT JOIN (WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p9:String} AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p10:String} AND member AND session_id IN (SELECT id FROM sessions FINAL WHERE project_id = {p1:String}
  AND NOT gone
  AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) OR id IN (SELECT id FROM (SELECT session_id AS id, tag_0
  FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p4:String} AND member) AS membership
  INNER JOIN (SELECT id AS trace, max(tag_0) AS tag_0 FROM (SELECT id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM traces FINAL
  WHERE project_id = {p5:String} AND NOT gone AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})))
  UNION ALL
  SELECT trace_id AS id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM spans
  WHERE project_id = {p6:String} AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)}))) AND identity(ver) <= {p7:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p8:String} AND next_ver <= {p7:UInt64})) GROUP BY id) AS held
  ON held.trace = membership.trace_id)))))) AND row_type = 0 AND NOT deleted) AS bounds
SELECT id, groupUniqArrayArray(texts) AS held FROM (
  SELECT id, CAST(mapKeys(tags), 'Array(String)') AS texts FROM sessions FINAL
  WHERE project_id = {p11:String} AND NOT gone AND id IN (SELECT id FROM sessions FINAL WHERE project_id = {p1:String}
  AND NOT gone
  AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) OR id IN (SELECT id FROM (SELECT session_id AS id, tag_0
  FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p4:String} AND member) AS membership
  INNER JOIN (SELECT id AS trace, max(tag_0) AS tag_0 FROM (SELECT id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM traces FINAL
  WHERE project_id = {p5:String} AND NOT gone AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})))
  UNION ALL
  SELECT trace_id AS id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM spans
  WHERE project_id = {p6:String} AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)}))) AND identity(ver) <= {p7:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p8:String} AND next_ver <= {p7:UInt64})) GROUP BY id) AS held
  ON held.trace = membership.trace_id)))) AND notEmpty(texts)
  UNION ALL
  SELECT session_id AS id, held AS texts
  FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p12:String} AND member AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p13:String} AND member AND session_id IN (SELECT id FROM sessions FINAL WHERE project_id = {p1:String}
  AND NOT gone
  AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) OR id IN (SELECT id FROM (SELECT session_id AS id, tag_0
  FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p4:String} AND member) AS membership
  INNER JOIN (SELECT id AS trace, max(tag_0) AS tag_0 FROM (SELECT id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM traces FINAL
  WHERE project_id = {p5:String} AND NOT gone AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})))
  UNION ALL
  SELECT trace_id AS id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM spans
  WHERE project_id = {p6:String} AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)}))) AND identity(ver) <= {p7:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p8:String} AND next_ver <= {p7:UInt64})) GROUP BY id) AS held
  ON held.trace = membership.trace_id))))))) AS membership
  INNER JOIN (SELECT id AS trace, held FROM (SELECT id, groupUniqArrayArray(texts) AS held FROM (
  SELECT id, CAST(mapKeys(tags), 'Array(String)') AS texts FROM traces FINAL
  WHERE project_id = {p14:String} AND NOT gone AND id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p13:String} AND member AND session_id IN (SELECT id FROM sessions FINAL WHERE project_id = {p1:String}
  AND NOT gone
  AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) OR id IN (SELECT id FROM (SELECT session_id AS id, tag_0
  FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p4:String} AND member) AS membership
  INNER JOIN (SELECT id AS trace, max(tag_0) AS tag_0 FROM (SELECT id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM traces FINAL
  WHERE project_id = {p5:String} AND NOT gone AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})))
  UNION ALL
  SELECT trace_id AS id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM spans
  WHERE project_id = {p6:String} AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)}))) AND identity(ver) <= {p7:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p8:String} AND next_ver <= {p7:UInt64})) GROUP BY id) AS held
  ON held.trace = membership.trace_id)))))) AND notEmpty(texts)
  UNION ALL
  SELECT trace_id AS id, CAST(mapKeys(tags), 'Array(String)') AS texts FROM spans
  WHERE project_id = {p15:String} AND started_at >= bounds.1 AND started_at <= bounds.2 AND trace_id IN (SELECT trace_id FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p13:String} AND member AND session_id IN (SELECT id FROM sessions FINAL WHERE project_id = {p1:String}
  AND NOT gone
  AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) OR id IN (SELECT id FROM (SELECT session_id AS id, tag_0
  FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p4:String} AND member) AS membership
  INNER JOIN (SELECT id AS trace, max(tag_0) AS tag_0 FROM (SELECT id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM traces FINAL
  WHERE project_id = {p5:String} AND NOT gone AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})))
  UNION ALL
  SELECT trace_id AS id, (mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)})) AS tag_0 FROM spans
  WHERE project_id = {p6:String} AND ((mapContains(tags, {p2:String}) AND has({p3:Array(String)}, tags[{p2:String}]) AND hasAny(mapValues(tags), {p3:Array(String)}))) AND identity(ver) <= {p7:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p8:String} AND next_ver <= {p7:UInt64})) GROUP BY id) AS held
  ON held.trace = membership.trace_id)))))) AND notEmpty(texts) AND identity(ver) <= {p16:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p17:String} AND next_ver <= {p16:UInt64})
) GROUP BY id)) AS within
  ON within.trace = membership.trace_id
) GROUP BY id) AS held ON held.id = object.object_id))
WHERE isNotNull(text) AND startsWith(lowerUTF8(text), lowerUTF8({p18:String}))
GROUP BY text ORDER BY too_long, objects DESC, text LIMIT {p19:UInt64}
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "x"
-- p3 = ["y"]
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = 50000000000000
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = "0197f3a0-0000-7000-8000-000000000001"
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = "0197f3a0-0000-7000-8000-000000000001"
-- p12 = "0197f3a0-0000-7000-8000-000000000001"
-- p13 = "0197f3a0-0000-7000-8000-000000000001"
-- p14 = "0197f3a0-0000-7000-8000-000000000001"
-- p15 = "0197f3a0-0000-7000-8000-000000000001"
-- p16 = 50000000000000
-- p17 = "0197f3a0-0000-7000-8000-000000000001"
-- p18 = "p'"
-- p19 = 7
