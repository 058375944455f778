SELECT id FROM traces FINAL
WHERE project_id = {p1:String}
  AND NOT gone
  AND NOT internal
  AND (status = 'error') = {p2:UInt8}
ORDER BY started_at DESC NULLS LAST, id DESC
LIMIT {p3:UInt64} OFFSET {p4:UInt64}
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 1
-- p3 = 50
-- p4 = 0
