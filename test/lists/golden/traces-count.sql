SELECT count() AS total FROM traces FINAL WHERE project_id = {p1:String}
  AND NOT gone
  AND NOT internal
  AND name IN ({p2:String})
  AND (status = 'error') = {p3:UInt8}
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = "checkout"
-- p3 = 1
