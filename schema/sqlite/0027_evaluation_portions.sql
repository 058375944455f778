-- Lists of evaluations are walked through in portions, in their order, and each entry is looked at by what an index holds: a
-- version stands behind the texts of its row. By version they are only counted.
DROP INDEX evaluations_by_judge;
CREATE INDEX evaluations_by_judge
  ON evaluations (judge_id, created_at, seq, evaluation_result, span_id, judge_version);

DROP INDEX evaluations_by_confidence;
CREATE INDEX evaluations_by_confidence
  ON evaluations (judge_id, confidence_score, created_at, seq, evaluation_result, span_id, judge_version);

DROP INDEX evaluations_by_version;
CREATE INDEX evaluations_by_version ON evaluations (judge_id, judge_version);

-- Whether somebody spoke of an evaluation, and how, is asked of each of them.
DROP INDEX corrections_by_evaluation;
CREATE INDEX corrections_by_evaluation ON corrections (evaluation_seq, thumbs_up);
CREATE INDEX corrections_by_span_and_evaluation ON corrections (judge_id, span_id, evaluation_seq);
