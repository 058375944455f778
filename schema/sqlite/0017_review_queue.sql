-- Evaluations in the order in which people look at them, the least sure ones first, and those of a version of a judge. Both
-- hold what lists filter by, so that rows, which may be large, are read for a page alone.
CREATE INDEX evaluations_by_confidence
  ON evaluations (judge_id, confidence_score, created_at, seq, evaluation_result, span_id);
CREATE INDEX evaluations_by_version
  ON evaluations (judge_id, judge_version, created_at, seq, evaluation_result, span_id);
