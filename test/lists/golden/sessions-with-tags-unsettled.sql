SELECT id
FROM (
  SELECT project_id, id, gone, name, trace_count, error_count, cost, duration, started_at, ended_at, tags, attributes, created_ver, input_tokens, output_tokens FROM sessions FINAL WHERE project_id = {p1:String} AND id NOT IN {p2:Array(UUID)}
  UNION ALL
  SELECT project_id, id, gone, name, trace_count, error_count, cost, duration, started_at, ended_at, tags, attributes, created_ver, input_tokens, output_tokens FROM (WITH
  argMaxIf(p.name, p.name_ver, p.name != '' AND NOT p.stated) AS derived_name,
  anyIf(p.name, p.stated AND NOT p.deleted) AS stated_name,
  mapApply((k, v) -> (k, v.2), maxMapIf(p.tags, NOT p.stated)) AS derived_tags
SELECT
  project_id,
  session_id AS id,
  max(p.named) = 0 AS gone,
  if(stated_name != '', stated_name, derived_name) AS name,
  countIf(p.member) AS trace_count,
  sumIf(p.error_count, p.member) AS error_count,
  sumIf(p.cost, p.member) AS cost,
  -- summed as integers, so that the figure does not depend on the order of the traces
  sumIf(toInt128(round(p.duration_ms * 1000000)), p.member) / 1000000 AS duration,
  minIf(p.started_at, p.member) AS started_at,
  maxIf(p.ended_at, p.member) AS ended_at,
  mapUpdate(derived_tags, mapApply((k, v) -> (k, v.2), maxMapIf(p.tags, p.stated AND NOT p.deleted))) AS tags,
  anyIf(p.attributes, p.stated AND NOT p.deleted) AS attributes,
  min(p.created_ver) AS created_ver,
  sumIf(p.input_tokens, p.member) AS input_tokens,
  sumIf(p.output_tokens, p.member) AS output_tokens
FROM (
  SELECT project_id, session_id, named, member, name, name_ver,
    tags AS tags, cost, duration_ms, error_count,
    toNullable(started_at) AS started_at, ended_at, created_ver, input_tokens, output_tokens, 0 AS stated, 0 AS deleted, '' AS attributes
  FROM session_traces FINAL
  WHERE project_id = {p3:String} AND session_id IN {p2:Array(UUID)} AND trace_id NOT IN {p4:Array(UUID)}
  UNION ALL
  SELECT project_id, session_id, named, member, name, name_ver,
    tags AS tags, cost, duration_ms, error_count,
    toNullable(started_at) AS started_at, ended_at, created_ver, input_tokens, output_tokens, 0 AS stated, 0 AS deleted, '' AS attributes
  FROM (SELECT
  project_id,
  assumeNotNull(coalesce(w.session_id, r.session_id)) AS session_id,
  r.id AS trace_id,
  max(w.live) AS named,
  any(NOT r.gone AND ifNull(r.session_id = coalesce(w.session_id, r.session_id), 0)) AS member,
  argMaxIf(w.name, w.ver, w.live AND w.name != '') AS name,
  maxIf(w.ver, w.live AND w.name != '') AS name_ver,
  maxMapIf(mapApply((k, v) -> (k, (w.ver, v)), w.tags), w.live) AS tags,
  any(r.cost) AS cost,
  any(r.duration_ms) AS duration_ms,
  any(r.error_count) AS error_count,
  any(r.started_at) AS started_at,
  any(r.ended_at) AS ended_at,
  minIf(w.ver, isNotNull(w.session_id)) AS created_ver,
  any(r.input_tokens) AS input_tokens,
  any(r.output_tokens) AS output_tokens
FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id,
  if(statements > 0, stated_as.4, first_start) AS started_at,
  coalesce(stated_as.5, last_end) AS ended_at,
  coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_as.7, costs) AS cost,
  errors AS error_count,
  inputs AS input_tokens,
  outputs AS output_tokens,
  CAST(session_writes, 'Array(Tuple(session_id Nullable(UUID), live UInt8, ver UInt64, name String, tags Map(String, String)))') AS session_writes
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    sumIf(input_tokens, live) AS inputs,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    sumIf(output_tokens, live) AS outputs,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    groupArrayIf((session_id, toUInt8(newest AND NOT deleted), written, session_name, CAST(session_tags, 'Map(String, String)')),
      isNotNull(session_id) OR (newest AND NOT deleted AND (session_name != '' OR notEmpty(session_tags)))) AS session_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT ver, project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        trace_tags, session_tags, attributes, origin_ver, session_name,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p5:String} AND trace_id IN {p4:Array(UUID)} AND ver <= {p6:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
)) AS r
ARRAY JOIN session_writes AS w
WHERE isNotNull(coalesce(w.session_id, r.session_id))
GROUP BY project_id, session_id, trace_id)
  WHERE project_id = {p3:String} AND session_id IN {p2:Array(UUID)}
  UNION ALL
  SELECT project_id, session_id, argMax(NOT s.deleted, s.ver) AS named, 0 AS member, argMax(s.name, s.ver) AS name,
    0 AS name_ver, argMax(CAST(mapApply((k, v) -> (k, (toUInt64(0), v)), s.tags), 'Map(String, Tuple(ver UInt64, value String))'), s.ver) AS tags,
    CAST(NULL, 'Nullable(Decimal(38, 12))') AS cost, CAST(NULL, 'Nullable(Float64)') AS duration_ms, 0 AS error_count,
    CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS started_at, CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS ended_at, min(s.ver) AS created_ver,
    CAST(NULL, 'Nullable(UInt64)') AS input_tokens, CAST(NULL, 'Nullable(UInt64)') AS output_tokens, 1 AS stated, argMax(s.deleted, s.ver) AS deleted, argMax(s.attributes, s.ver) AS attributes
  FROM session_statements AS s
  WHERE project_id = {p3:String} AND session_id IN {p2:Array(UUID)} AND s.ver <= {p7:UInt64}
  GROUP BY project_id, session_id
) AS p
GROUP BY project_id, session_id)
)
WHERE project_id = {p8:String}
  AND NOT gone
  AND id IN (SELECT id FROM (SELECT id, (mapContains(tags, {p9:String}) AND has({p10:Array(String)}, tags[{p9:String}]) AND hasAny(mapValues(tags), {p10:Array(String)})) AS tag_0, (mapContains(tags, {p11:String}) AND has({p12:Array(String)}, tags[{p11:String}]) AND hasAny(mapValues(tags), {p12:Array(String)})) AS tag_1 FROM (
  SELECT project_id, id, gone, name, trace_count, error_count, cost, duration, started_at, ended_at, tags, attributes, created_ver, input_tokens, output_tokens FROM sessions FINAL WHERE project_id = {p13:String} AND id NOT IN {p14:Array(UUID)}
  UNION ALL
  SELECT project_id, id, gone, name, trace_count, error_count, cost, duration, started_at, ended_at, tags, attributes, created_ver, input_tokens, output_tokens FROM (WITH
  argMaxIf(p.name, p.name_ver, p.name != '' AND NOT p.stated) AS derived_name,
  anyIf(p.name, p.stated AND NOT p.deleted) AS stated_name,
  mapApply((k, v) -> (k, v.2), maxMapIf(p.tags, NOT p.stated)) AS derived_tags
SELECT
  project_id,
  session_id AS id,
  max(p.named) = 0 AS gone,
  if(stated_name != '', stated_name, derived_name) AS name,
  countIf(p.member) AS trace_count,
  sumIf(p.error_count, p.member) AS error_count,
  sumIf(p.cost, p.member) AS cost,
  -- summed as integers, so that the figure does not depend on the order of the traces
  sumIf(toInt128(round(p.duration_ms * 1000000)), p.member) / 1000000 AS duration,
  minIf(p.started_at, p.member) AS started_at,
  maxIf(p.ended_at, p.member) AS ended_at,
  mapUpdate(derived_tags, mapApply((k, v) -> (k, v.2), maxMapIf(p.tags, p.stated AND NOT p.deleted))) AS tags,
  anyIf(p.attributes, p.stated AND NOT p.deleted) AS attributes,
  min(p.created_ver) AS created_ver,
  sumIf(p.input_tokens, p.member) AS input_tokens,
  sumIf(p.output_tokens, p.member) AS output_tokens
FROM (
  SELECT project_id, session_id, named, member, name, name_ver,
    tags AS tags, cost, duration_ms, error_count,
    toNullable(started_at) AS started_at, ended_at, created_ver, input_tokens, output_tokens, 0 AS stated, 0 AS deleted, '' AS attributes
  FROM session_traces FINAL
  WHERE project_id = {p15:String} AND session_id IN {p14:Array(UUID)} AND trace_id NOT IN {p16:Array(UUID)}
  UNION ALL
  SELECT project_id, session_id, named, member, name, name_ver,
    tags AS tags, cost, duration_ms, error_count,
    toNullable(started_at) AS started_at, ended_at, created_ver, input_tokens, output_tokens, 0 AS stated, 0 AS deleted, '' AS attributes
  FROM (SELECT
  project_id,
  assumeNotNull(coalesce(w.session_id, r.session_id)) AS session_id,
  r.id AS trace_id,
  max(w.live) AS named,
  any(NOT r.gone AND ifNull(r.session_id = coalesce(w.session_id, r.session_id), 0)) AS member,
  argMaxIf(w.name, w.ver, w.live AND w.name != '') AS name,
  maxIf(w.ver, w.live AND w.name != '') AS name_ver,
  maxMapIf(mapApply((k, v) -> (k, (w.ver, v)), w.tags), w.live) AS tags,
  any(r.cost) AS cost,
  any(r.duration_ms) AS duration_ms,
  any(r.error_count) AS error_count,
  any(r.started_at) AS started_at,
  any(r.ended_at) AS ended_at,
  minIf(w.ver, isNotNull(w.session_id)) AS created_ver,
  any(r.input_tokens) AS input_tokens,
  any(r.output_tokens) AS output_tokens
FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id,
  if(statements > 0, stated_as.4, first_start) AS started_at,
  coalesce(stated_as.5, last_end) AS ended_at,
  coalesce(stated_as.6, if(ended_at < started_at, 0, dateDiff('microsecond', started_at, ended_at) / 1000)) AS duration_ms,
  coalesce(stated_as.7, costs) AS cost,
  errors AS error_count,
  inputs AS input_tokens,
  outputs AS output_tokens,
  CAST(session_writes, 'Array(Tuple(session_id Nullable(UUID), live UInt8, ver UInt64, name String, tags Map(String, String)))') AS session_writes
FROM (
  SELECT project_id, trace_id,
    sumIf(cost, live) AS costs,
    countIf(live AND has_error) AS errors,
    minIf(started_at, live) AS first_start,
    sumIf(input_tokens, live) AS inputs,
    maxIf(ended_at, live) AS last_end,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    sumIf(output_tokens, live) AS outputs,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements,
    groupArrayIf((session_id, toUInt8(newest AND NOT deleted), written, session_name, CAST(session_tags, 'Map(String, String)')),
      isNotNull(session_id) OR (newest AND NOT deleted AND (session_name != '' OR notEmpty(session_tags)))) AS session_writes
  FROM (
    SELECT *, next_ver = 0 AS newest,
      row_type = 0 AND newest AND NOT deleted AS live,
      row_type = 1 AND newest AND NOT deleted AS stated,
      if(origin_ver = 0, ver, origin_ver) AS written
    FROM (
      SELECT ver, project_id, trace_id, row_type, id, deleted, parent_span_id, session_id, name, status, started_at, ended_at, duration_ms, cost, input_tokens, output_tokens, has_error,
        trace_tags, session_tags, attributes, origin_ver, session_name,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p17:String} AND trace_id IN {p16:Array(UUID)} AND ver <= {p18:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
)) AS r
ARRAY JOIN session_writes AS w
WHERE isNotNull(coalesce(w.session_id, r.session_id))
GROUP BY project_id, session_id, trace_id)
  WHERE project_id = {p15:String} AND session_id IN {p14:Array(UUID)}
  UNION ALL
  SELECT project_id, session_id, argMax(NOT s.deleted, s.ver) AS named, 0 AS member, argMax(s.name, s.ver) AS name,
    0 AS name_ver, argMax(CAST(mapApply((k, v) -> (k, (toUInt64(0), v)), s.tags), 'Map(String, Tuple(ver UInt64, value String))'), s.ver) AS tags,
    CAST(NULL, 'Nullable(Decimal(38, 12))') AS cost, CAST(NULL, 'Nullable(Float64)') AS duration_ms, 0 AS error_count,
    CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS started_at, CAST(NULL, 'Nullable(DateTime64(6, \'UTC\'))') AS ended_at, min(s.ver) AS created_ver,
    CAST(NULL, 'Nullable(UInt64)') AS input_tokens, CAST(NULL, 'Nullable(UInt64)') AS output_tokens, 1 AS stated, argMax(s.deleted, s.ver) AS deleted, argMax(s.attributes, s.ver) AS attributes
  FROM session_statements AS s
  WHERE project_id = {p15:String} AND session_id IN {p14:Array(UUID)} AND s.ver <= {p19:UInt64}
  GROUP BY project_id, session_id
) AS p
GROUP BY project_id, session_id)
)
  WHERE project_id = {p20:String} AND NOT gone AND ((mapContains(tags, {p9:String}) AND has({p10:Array(String)}, tags[{p9:String}]) AND hasAny(mapValues(tags), {p10:Array(String)})) OR (mapContains(tags, {p11:String}) AND has({p12:Array(String)}, tags[{p11:String}]) AND hasAny(mapValues(tags), {p12:Array(String)})))
  UNION ALL
  SELECT session_id AS id, tag_0, tag_1
  FROM (SELECT session_id, trace_id FROM session_traces FINAL
  WHERE project_id = {p21:String} AND member AND trace_id NOT IN {p22:Array(UUID)}
  UNION ALL
  SELECT assumeNotNull(session_id) AS session_id, id AS trace_id FROM (SELECT project_id, trace_id AS id,
  spans = 0 AND statements = 0 AS gone,
  if(isNull(stated_as.1) AND of_session.1 != 0, of_session.2, stated_as.1) AS session_id
FROM (
  SELECT project_id, trace_id,
    maxIf((written, assumeNotNull(session_id)), live AND isNotNull(session_id)) AS of_session,
    countIf(live) AS spans,
    anyIf((session_id, name, status, started_at, ended_at, duration_ms, cost, trace_tags, attributes), stated) AS stated_as,
    countIf(stated) AS statements
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
      WHERE project_id = {p23:String} AND trace_id IN {p22:Array(UUID)} AND ver <= {p24:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
  WHERE NOT gone AND isNotNull(session_id)) AS membership
  INNER JOIN (SELECT id AS trace, max(tag_0) AS tag_0, max(tag_1) AS tag_1 FROM (SELECT id, (mapContains(tags, {p9:String}) AND has({p10:Array(String)}, tags[{p9:String}]) AND hasAny(mapValues(tags), {p10:Array(String)})) AS tag_0, (mapContains(tags, {p11:String}) AND has({p12:Array(String)}, tags[{p11:String}]) AND hasAny(mapValues(tags), {p12:Array(String)})) AS tag_1 FROM (
  SELECT project_id, id, gone, session_id, name, status, started_at, ended_at, duration_ms, cost, span_count, error_count, tags, attributes, created_ver, root_ver, root_started_at, input_tokens, output_tokens, internal FROM traces FINAL WHERE project_id = {p25:String} AND id NOT IN {p26:Array(UUID)}
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
      WHERE project_id = {p27:String} AND trace_id IN {p26:Array(UUID)} AND ver <= {p28:UInt64}
    )
    WHERE next_write != ver
  )
  GROUP BY project_id, trace_id
))
)
  WHERE project_id = {p29:String} AND NOT gone AND ((mapContains(tags, {p9:String}) AND has({p10:Array(String)}, tags[{p9:String}]) AND hasAny(mapValues(tags), {p10:Array(String)})) OR (mapContains(tags, {p11:String}) AND has({p12:Array(String)}, tags[{p11:String}]) AND hasAny(mapValues(tags), {p12:Array(String)})))
  UNION ALL
  SELECT trace_id AS id, (mapContains(tags, {p9:String}) AND has({p10:Array(String)}, tags[{p9:String}]) AND hasAny(mapValues(tags), {p10:Array(String)})) AS tag_0, (mapContains(tags, {p11:String}) AND has({p12:Array(String)}, tags[{p11:String}]) AND hasAny(mapValues(tags), {p12:Array(String)})) AS tag_1 FROM spans
  WHERE project_id = {p30:String} AND ((mapContains(tags, {p9:String}) AND has({p10:Array(String)}, tags[{p9:String}]) AND hasAny(mapValues(tags), {p10:Array(String)})) OR (mapContains(tags, {p11:String}) AND has({p12:Array(String)}, tags[{p11:String}]) AND hasAny(mapValues(tags), {p12:Array(String)}))) AND identity(ver) <= {p31:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p32:String} AND next_ver <= {p31:UInt64})
  AND identity(ver) NOT IN (SELECT ver FROM (SELECT ver, row_type,
        lagInFrame(ver) OVER (PARTITION BY project_id, trace_id, row_type, id ORDER BY ver DESC) AS next_write,
        minIf(ver, row_type = 2) OVER (PARTITION BY project_id, trace_id ORDER BY ver DESC) AS removed,
        if(row_type = 2 OR removed = 0 OR (next_write != 0 AND next_write < removed), next_write, removed) AS next_ver
      FROM facts
      WHERE project_id = {p33:String} AND trace_id IN {p34:Array(UUID)} AND ver <= {p35:UInt64}) WHERE row_type = 0 AND next_ver != 0 AND next_write != ver)) GROUP BY id) AS held
  ON held.trace = membership.trace_id) GROUP BY id HAVING max(tag_0) AND max(tag_1))
ORDER BY created_ver DESC NULLS LAST, id DESC
LIMIT {p36:UInt64} OFFSET {p37:UInt64}
FORMAT Template SETTINGS format_template_resultset_format = '${data}', format_template_row_format = '{"id":${0:JSON}}', format_template_rows_between_delimiter = '\n', date_time_output_format = 'iso', output_format_json_escape_forward_slashes = 0, output_format_json_quote_64bit_integers = 0, output_format_json_quote_64bit_floats = 0, output_format_json_quote_decimals = 0, format_tsv_null_representation = 'null'
-- p1 = "0197f3a0-0000-7000-8000-000000000001"
-- p2 = ["00000000-0000-4000-8000-000000000001"]
-- p3 = "0197f3a0-0000-7000-8000-000000000001"
-- p4 = ["00000000-0000-4000-8000-000000000001"]
-- p5 = "0197f3a0-0000-7000-8000-000000000001"
-- p6 = 50000000000000
-- p7 = 50000000000000
-- p8 = "0197f3a0-0000-7000-8000-000000000001"
-- p9 = "service"
-- p10 = ["api"]
-- p11 = "user"
-- p12 = ["1"]
-- p13 = "0197f3a0-0000-7000-8000-000000000001"
-- p14 = ["00000000-0000-4000-8000-000000000001"]
-- p15 = "0197f3a0-0000-7000-8000-000000000001"
-- p16 = ["00000000-0000-4000-8000-000000000001"]
-- p17 = "0197f3a0-0000-7000-8000-000000000001"
-- p18 = 50000000000000
-- p19 = 50000000000000
-- p20 = "0197f3a0-0000-7000-8000-000000000001"
-- p21 = "0197f3a0-0000-7000-8000-000000000001"
-- p22 = ["00000000-0000-4000-8000-000000000001"]
-- p23 = "0197f3a0-0000-7000-8000-000000000001"
-- p24 = 50000000000000
-- p25 = "0197f3a0-0000-7000-8000-000000000001"
-- p26 = ["00000000-0000-4000-8000-000000000001"]
-- p27 = "0197f3a0-0000-7000-8000-000000000001"
-- p28 = 50000000000000
-- p29 = "0197f3a0-0000-7000-8000-000000000001"
-- p30 = "0197f3a0-0000-7000-8000-000000000001"
-- p31 = 50000000000000
-- p32 = "0197f3a0-0000-7000-8000-000000000001"
-- p33 = "0197f3a0-0000-7000-8000-000000000001"
-- p34 = ["00000000-0000-4000-8000-000000000001"]
-- p35 = 50000000000000
-- p36 = 50
-- p37 = 0
