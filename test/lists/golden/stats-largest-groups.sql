SELECT toUInt8(ifNull(length(text), 0) > 4096) AS too_long, if(too_long, '', text) AS shown, toString(max(at)) AS latest, toString(min(min(at)) OVER ()) AS first, toString(max(max(at)) OVER ()) AS last
FROM (SELECT arrayJoin(texts) AS text, at FROM (SELECT [toString(name)] AS texts, toUnixTimestamp64Micro(started_at) AS at FROM spans WHERE project_id = {p1:String}
  AND NOT internal
  AND identity(ver) <= {p2:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p3:String} AND next_ver <= {p2:UInt64})))
GROUP BY text ORDER BY too_long, count() DESC, text LIMIT 8
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 50000000000000
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
