SELECT group_number, bucket_number, sum(objects_part) AS objects, sum(errors_part) AS errors, toString(sum(costs_part)) AS costs, if(sum(durations_known) = 0, [], quantilesExactMerge(0.5, 0.95, 0.99)(durations_part)) AS durations, sum(tokens_0_part) AS tokens_0, sum(tokens_1_part) AS tokens_1, sum(tokens_2_part) AS tokens_2, sum(tokens_3_part) AS tokens_3
FROM (
  SELECT materialize(toUInt8(255)) AS group_number, bucket_number, count() AS objects_part, sum(errors_of) AS errors_part, sum(costs_of) AS costs_part, quantilesExactState(0.5, 0.95, 0.99)(durations_of) AS durations_part, count(durations_of) AS durations_known, sum(tokens_0_of) AS tokens_0_part, sum(tokens_1_of) AS tokens_1_part, sum(tokens_2_of) AS tokens_2_part, sum(tokens_3_of) AS tokens_3_part
  FROM (SELECT toUInt16(assumeNotNull(multiIf(isNull(toUnixTimestamp64Micro(started_at)) OR toUnixTimestamp64Micro(started_at) < 1774566000000000, 65535, toUnixTimestamp64Micro(started_at) < 1774738800000000, 1 + intDiv(toUnixTimestamp64Micro(started_at) - 1774566000000000, 86400000000), toUnixTimestamp64Micro(started_at) < 1774821600000000, 3 + intDiv(toUnixTimestamp64Micro(started_at) - 1774738800000000, 82800000000), toUnixTimestamp64Micro(started_at) < 1774908000000000, 4 + intDiv(toUnixTimestamp64Micro(started_at) - 1774821600000000, 86400000000), 65535))) AS bucket_number, has_error AS errors_of, cost AS costs_of, duration_ms AS durations_of, input_tokens AS tokens_0_of, output_tokens AS tokens_1_of, cache_read_tokens AS tokens_2_of, cache_write_tokens AS tokens_3_of FROM spans WHERE project_id = {p1:String}
  AND NOT internal
  AND has_error = {p2:UInt8}
  AND identity(ver) <= {p3:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p4:String} AND next_ver <= {p3:UInt64}))
  GROUP BY group_number, bucket_number
)
GROUP BY GROUPING SETS ((group_number), (group_number, bucket_number))
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = 1
-- p3 = 50000000000000
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
