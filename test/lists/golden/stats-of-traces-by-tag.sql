SELECT group_number, bucket_number, sum(objects_part) AS objects, sum(errors_part) AS errors
FROM (
  SELECT arrayJoin(arrayPushFront(arrayDistinct(arrayMap(text -> toUInt8(if(isNull(text), 2, (indexOf({p1:Array(String)}, assumeNotNull(text)) + (indexOf({p1:Array(String)}, assumeNotNull(text)) > 1)))), texts)), toUInt8(255))) AS group_number, bucket_number, count() AS objects_part, sum(errors_of) AS errors_part
  FROM (SELECT if(empty(held.held), [NULL], held.held) AS texts, object.bucket_number, object.errors_of
FROM (SELECT id AS object_id, toUInt16(65535) AS bucket_number, (status = 'error') AS errors_of FROM (
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, internal FROM traces FINAL WHERE project_id = {p2:String} AND id NOT IN {p3:Array(UUID)}
  UNION ALL
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, toUInt8((mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground'))) AS internal FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id,
  if(statements > 0, stated_as.2, oldest.4) AS name,
  multiIf(stated_as.3 != '', stated_as.3, errors > 0, 'error', oks > 0, 'ok', 'unset') AS status,
  if(statements > 0, stated_as.4, first_start) AS started_at,
  coalesce(stated_as.5, last_end) AS ended_at,
  coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_as.7, costs) AS cost,
  spans AS span_count,
  errors AS error_count,
  mapUpdate(mapApply((k, v) -> (k, v.2), tag_writes), stated_as.8) AS tags,
  stated_as.9 AS attributes,
  first_ver AS created_ver,
  if(spans > 0 AND NOT oldest.1, oldest.5, 0) AS root_ver,
  if(root_ver > 0, oldest.2, toDateTime64(0, 6, 'UTC')) AS root_started_at,
  inputs AS input_tokens,
  outputs AS output_tokens
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    min(if(row_type = 2, origin_ver, ver)) AS first_ver,
    sumIf(input_tokens, live) AS inputs,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live AND status = 'ok') AS oks,
    minIf((isNotNull(parent_span_id), started_at, id, name, ver), live) AS oldest,
    sumIf(output_tokens, live) AS outputs,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live) AS tag_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT ver, project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        trace_tags, attributes, origin_ver,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p4:String} AND trace_id IN {p3:Array(UUID)} AND ver <= {p5:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
) WHERE project_id = {p6:String}
  AND NOT gone
  AND NOT internal
  AND cost >= {p7:Decimal(38, 12)}) AS object
LEFT JOIN (WITH (SELECT (min(started_at), max(started_at)) FROM facts
  WHERE project_id = {p8:String} AND trace_id IN (SELECT id FROM (
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, internal FROM traces FINAL WHERE project_id = {p2:String} AND id NOT IN {p3:Array(UUID)}
  UNION ALL
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, toUInt8((mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground'))) AS internal FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id,
  if(statements > 0, stated_as.2, oldest.4) AS name,
  multiIf(stated_as.3 != '', stated_as.3, errors > 0, 'error', oks > 0, 'ok', 'unset') AS status,
  if(statements > 0, stated_as.4, first_start) AS started_at,
  coalesce(stated_as.5, last_end) AS ended_at,
  coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_as.7, costs) AS cost,
  spans AS span_count,
  errors AS error_count,
  mapUpdate(mapApply((k, v) -> (k, v.2), tag_writes), stated_as.8) AS tags,
  stated_as.9 AS attributes,
  first_ver AS created_ver,
  if(spans > 0 AND NOT oldest.1, oldest.5, 0) AS root_ver,
  if(root_ver > 0, oldest.2, toDateTime64(0, 6, 'UTC')) AS root_started_at,
  inputs AS input_tokens,
  outputs AS output_tokens
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    min(if(row_type = 2, origin_ver, ver)) AS first_ver,
    sumIf(input_tokens, live) AS inputs,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live AND status = 'ok') AS oks,
    minIf((isNotNull(parent_span_id), started_at, id, name, ver), live) AS oldest,
    sumIf(output_tokens, live) AS outputs,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live) AS tag_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT ver, project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        trace_tags, attributes, origin_ver,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p4:String} AND trace_id IN {p3:Array(UUID)} AND ver <= {p5:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
) WHERE project_id = {p6:String}
  AND NOT gone
  AND NOT internal
  AND cost >= {p7:Decimal(38, 12)}) AND row_type = 0 AND NOT deleted) AS bounds
SELECT id, groupUniqArrayArray(texts) AS held FROM (
  SELECT id, if(mapContains(tags, {p9:String}), [tags[{p9:String}]], []) AS texts FROM (
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, internal FROM traces FINAL WHERE project_id = {p10:String} AND id NOT IN {p11:Array(UUID)}
  UNION ALL
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, toUInt8((mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground'))) AS internal FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id,
  if(statements > 0, stated_as.2, oldest.4) AS name,
  multiIf(stated_as.3 != '', stated_as.3, errors > 0, 'error', oks > 0, 'ok', 'unset') AS status,
  if(statements > 0, stated_as.4, first_start) AS started_at,
  coalesce(stated_as.5, last_end) AS ended_at,
  coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_as.7, costs) AS cost,
  spans AS span_count,
  errors AS error_count,
  mapUpdate(mapApply((k, v) -> (k, v.2), tag_writes), stated_as.8) AS tags,
  stated_as.9 AS attributes,
  first_ver AS created_ver,
  if(spans > 0 AND NOT oldest.1, oldest.5, 0) AS root_ver,
  if(root_ver > 0, oldest.2, toDateTime64(0, 6, 'UTC')) AS root_started_at,
  inputs AS input_tokens,
  outputs AS output_tokens
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    min(if(row_type = 2, origin_ver, ver)) AS first_ver,
    sumIf(input_tokens, live) AS inputs,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live AND status = 'ok') AS oks,
    minIf((isNotNull(parent_span_id), started_at, id, name, ver), live) AS oldest,
    sumIf(output_tokens, live) AS outputs,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live) AS tag_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT ver, project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        trace_tags, attributes, origin_ver,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p12:String} AND trace_id IN {p11:Array(UUID)} AND ver <= {p13:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
)
  WHERE project_id = {p14:String} AND NOT gone AND id IN (SELECT id FROM (
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, internal FROM traces FINAL WHERE project_id = {p2:String} AND id NOT IN {p3:Array(UUID)}
  UNION ALL
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, toUInt8((mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground'))) AS internal FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id,
  if(statements > 0, stated_as.2, oldest.4) AS name,
  multiIf(stated_as.3 != '', stated_as.3, errors > 0, 'error', oks > 0, 'ok', 'unset') AS status,
  if(statements > 0, stated_as.4, first_start) AS started_at,
  coalesce(stated_as.5, last_end) AS ended_at,
  coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_as.7, costs) AS cost,
  spans AS span_count,
  errors AS error_count,
  mapUpdate(mapApply((k, v) -> (k, v.2), tag_writes), stated_as.8) AS tags,
  stated_as.9 AS attributes,
  first_ver AS created_ver,
  if(spans > 0 AND NOT oldest.1, oldest.5, 0) AS root_ver,
  if(root_ver > 0, oldest.2, toDateTime64(0, 6, 'UTC')) AS root_started_at,
  inputs AS input_tokens,
  outputs AS output_tokens
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    min(if(row_type = 2, origin_ver, ver)) AS first_ver,
    sumIf(input_tokens, live) AS inputs,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live AND status = 'ok') AS oks,
    minIf((isNotNull(parent_span_id), started_at, id, name, ver), live) AS oldest,
    sumIf(output_tokens, live) AS outputs,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live) AS tag_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT ver, project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        trace_tags, attributes, origin_ver,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p4:String} AND trace_id IN {p3:Array(UUID)} AND ver <= {p5:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
) WHERE project_id = {p6:String}
  AND NOT gone
  AND NOT internal
  AND cost >= {p7:Decimal(38, 12)}) AND notEmpty(texts)
  UNION ALL
  SELECT trace_id AS id, if(mapContains(tags, {p9:String}), [tags[{p9:String}]], []) AS texts FROM spans
  WHERE project_id = {p15:String} AND started_at >= bounds.1 AND started_at <= bounds.2 AND trace_id IN (SELECT id FROM (
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, internal FROM traces FINAL WHERE project_id = {p2:String} AND id NOT IN {p3:Array(UUID)}
  UNION ALL
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, toUInt8((mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground'))) AS internal FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id,
  if(statements > 0, stated_as.2, oldest.4) AS name,
  multiIf(stated_as.3 != '', stated_as.3, errors > 0, 'error', oks > 0, 'ok', 'unset') AS status,
  if(statements > 0, stated_as.4, first_start) AS started_at,
  coalesce(stated_as.5, last_end) AS ended_at,
  coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_as.7, costs) AS cost,
  spans AS span_count,
  errors AS error_count,
  mapUpdate(mapApply((k, v) -> (k, v.2), tag_writes), stated_as.8) AS tags,
  stated_as.9 AS attributes,
  first_ver AS created_ver,
  if(spans > 0 AND NOT oldest.1, oldest.5, 0) AS root_ver,
  if(root_ver > 0, oldest.2, toDateTime64(0, 6, 'UTC')) AS root_started_at,
  inputs AS input_tokens,
  outputs AS output_tokens
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    min(if(row_type = 2, origin_ver, ver)) AS first_ver,
    sumIf(input_tokens, live) AS inputs,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live AND status = 'ok') AS oks,
    minIf((isNotNull(parent_span_id), started_at, id, name, ver), live) AS oldest,
    sumIf(output_tokens, live) AS outputs,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    maxMapIf(mapApply((k, v) -> (k, (written, v)), trace_tags), live) AS tag_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT ver, project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        trace_tags, attributes, origin_ver,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p4:String} AND trace_id IN {p3:Array(UUID)} AND ver <= {p5:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
) WHERE project_id = {p6:String}
  AND NOT gone
  AND NOT internal
  AND cost >= {p7:Decimal(38, 12)}) AND notEmpty(texts) AND identity(ver) <= {p16:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p17:String} AND next_ver <= {p16:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p18:String} AND trace_id IN {p19:Array(UUID)} AND ver <= {p20:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)
) GROUP BY id) AS held ON held.id = object.object_id)
  GROUP BY group_number, bucket_number
)
GROUP BY GROUPING SETS ((group_number), (group_number, bucket_number))
-- p1 = ["a","b'"]
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = ["00000000-0000-4000-8000-000000000001"]
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 50000000000000
-- p6 = "0197f3a0-0000-7000-8000-000000000001"
-- p7 = "1.000000000000"
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = "it's"
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = ["00000000-0000-4000-8000-000000000001"]
-- p12 = "0197f3a0-0000-7000-8000-000000000001"
-- p13 = 50000000000000
-- p14 = "0197f3a0-0000-7000-8000-000000000001"
-- p15 = "0197f3a0-0000-7000-8000-000000000001"
-- p16 = 50000000000000
-- p17 = "0197f3a0-0000-7000-8000-000000000001"
-- p18 = "0197f3a0-0000-7000-8000-000000000001"
-- p19 = ["00000000-0000-4000-8000-000000000001"]
-- p20 = 50000000000000
