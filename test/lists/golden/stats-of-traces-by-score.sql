SELECT group_number, bucket_number, sum(objects_part) AS objects, if(sum(scores_0_known) = 0, [], arrayConcat([toFloat64(sum(scores_0_known)), sumKahan(scores_0_sum) / sum(scores_0_known), min(scores_0_least), max(scores_0_most)],
    quantilesExactMerge(0.5, 0.95, 0.99)(scores_0_states))) AS scores_0
FROM (
  SELECT arrayJoin(arrayPushFront(arrayDistinct(arrayMap(text -> toUInt8(if(isNull(text), 2, (indexOf({p1:Array(String)}, assumeNotNull(text)) + (indexOf({p1:Array(String)}, assumeNotNull(text)) > 1)))), texts)), toUInt8(255))) AS group_number, bucket_number, count() AS objects_part, count(scores_0_of) AS scores_0_known, sumKahan(scores_0_of) AS scores_0_sum, min(scores_0_of) AS scores_0_least, max(scores_0_of) AS scores_0_most,
    quantilesExactState(0.5, 0.95, 0.99)(scores_0_of) AS scores_0_states
  FROM (SELECT object.bucket_number AS bucket_number, scores_0.number AS scores_0_of, [multiIf(scores_1.kind = '', NULL, scores_1.kind = 'numeric', concat('n', toString(assumeNotNull(scores_1.number))),
    scores_1.kind = 'boolean', if(scores_1.number = 1, 'btrue', 'bfalse'), concat('t', scores_1.text))] AS texts
FROM (SELECT toUInt16(65535) AS bucket_number, id AS object_id FROM traces FINAL WHERE project_id = {p2:String}
  AND NOT gone
  AND NOT internal
  AND cost >= {p3:Decimal(38, 12)}) AS object
LEFT ANY JOIN (SELECT scored, ver, kind, number, text FROM (SELECT entity_id AS scored, ver AS ver, kind AS kind, number AS number, text AS text FROM (SELECT * EXCEPT (deleted) FROM (
  SELECT entity_type, name, entity_id, id, ver, deleted, kind, number, text FROM scores
  WHERE project_id = {p4:String} AND ver <= {p5:UInt64} AND entity_type = 'trace' AND name = {p6:String}
  ORDER BY entity_type, name, entity_id, id, ver DESC LIMIT 1 BY entity_type, name, entity_id, id
) WHERE NOT deleted)
  UNION ALL
  SELECT h.holder AS scored, s.ver AS ver, s.kind AS kind, s.number AS number, s.text AS text
  FROM (SELECT trace_id AS holder, id AS held FROM spans WHERE project_id = {p7:String} AND identity(ver) <= {p8:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p9:String} AND next_ver <= {p8:UInt64})) AS h INNER JOIN (SELECT entity_id AS scored, ver AS ver, kind AS kind, number AS number, text AS text FROM (SELECT * EXCEPT (deleted) FROM (
  SELECT entity_type, name, entity_id, id, ver, deleted, kind, number, text FROM scores
  WHERE project_id = {p10:String} AND ver <= {p11:UInt64} AND entity_type = 'span' AND name = {p12:String}
  ORDER BY entity_type, name, entity_id, id, ver DESC LIMIT 1 BY entity_type, name, entity_id, id
) WHERE NOT deleted)) AS s ON s.scored = h.held) ORDER BY scored, ver DESC LIMIT 1 BY scored) AS scores_0 ON scores_0.scored = object.object_id
LEFT ANY JOIN (SELECT scored, ver, kind, number, text FROM (SELECT entity_id AS scored, ver AS ver, kind AS kind, number AS number, text AS text FROM (SELECT * EXCEPT (deleted) FROM (
  SELECT entity_type, name, entity_id, id, ver, deleted, kind, number, text FROM scores
  WHERE project_id = {p13:String} AND ver <= {p14:UInt64} AND entity_type = 'trace' AND name = {p15:String}
  ORDER BY entity_type, name, entity_id, id, ver DESC LIMIT 1 BY entity_type, name, entity_id, id
) WHERE NOT deleted)
  UNION ALL
  SELECT h.holder AS scored, s.ver AS ver, s.kind AS kind, s.number AS number, s.text AS text
  FROM (SELECT trace_id AS holder, id AS held FROM spans WHERE project_id = {p16:String} AND identity(ver) <= {p17:UInt64}
  AND identity(ver) NOT IN (SELECT ver FROM superseded WHERE project_id = {p18:String} AND next_ver <= {p17:UInt64})) AS h INNER JOIN (SELECT entity_id AS scored, ver AS ver, kind AS kind, number AS number, text AS text FROM (SELECT * EXCEPT (deleted) FROM (
  SELECT entity_type, name, entity_id, id, ver, deleted, kind, number, text FROM scores
  WHERE project_id = {p19:String} AND ver <= {p20:UInt64} AND entity_type = 'span' AND name = {p21:String}
  ORDER BY entity_type, name, entity_id, id, ver DESC LIMIT 1 BY entity_type, name, entity_id, id
) WHERE NOT deleted)) AS s ON s.scored = h.held) ORDER BY scored, ver DESC LIMIT 1 BY scored) AS scores_1 ON scores_1.scored = object.object_id)
  GROUP BY group_number, bucket_number
)
GROUP BY GROUPING SETS ((group_number), (group_number, bucket_number))
-- p1 = ["tcalm"]
-- p2 = "0197f3a0-0000-7000-8000-000000000001"
-- p3 = "1.000000000000"
-- p4 = "0197f3a0-0000-7000-8000-000000000001"
-- p5 = 50000000000000
-- p6 = "it's"
-- p7 = "0197f3a0-0000-7000-8000-000000000001"
-- p8 = 50000000000000
-- p9 = "0197f3a0-0000-7000-8000-000000000001"
-- p10 = "0197f3a0-0000-7000-8000-000000000001"
-- p11 = 50000000000000
-- p12 = "it's"
-- p13 = "0197f3a0-0000-7000-8000-000000000001"
-- p14 = 50000000000000
-- p15 = "tone"
-- p16 = "0197f3a0-0000-7000-8000-000000000001"
-- p17 = 50000000000000
-- p18 = "0197f3a0-0000-7000-8000-000000000001"
-- p19 = "0197f3a0-0000-7000-8000-000000000001"
-- p20 = 50000000000000
-- p21 = "tone"
