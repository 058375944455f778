SELECT toString(minOrNull(at)) AS first, toString(maxOrNull(at)) AS last FROM (SELECT toUnixTimestamp64Micro(started_at) AS at FROM sessions FINAL WHERE project_id = {p1:String}
  AND NOT gone)
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
