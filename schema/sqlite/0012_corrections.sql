-- Corrections are written by the server, in the transaction that stores or removes what they come from, and no longer by
-- triggers. Every row is kept.

DROP TRIGGER feedback_is_stated;
DROP TRIGGER feedback_is_restated;
DROP TRIGGER statement_is_counted;
DROP TRIGGER statement_is_recounted;
DROP TRIGGER statement_is_removed;
DROP TRIGGER evaluation_has_version;
DROP TRIGGER evaluation_leaves_version;

-- What one user said of one evaluation, from the feedback that says it. Said again of the same evaluation it is replaced;
-- said of a later evaluation of the span it is another row, so that evidence about the earlier one stays.
CREATE TABLE corrections (
  feedback_id       TEXT NOT NULL REFERENCES feedback (id), -- no cascade: each one that goes is counted in `correction_sets`
  judge_id          TEXT NOT NULL,
  span_id           TEXT NOT NULL,
  user_id           TEXT NOT NULL,
  evaluation_seq    INTEGER REFERENCES evaluations (seq), -- null: the judge had not evaluated the span
  revision          INTEGER NOT NULL, -- of the judge's set of corrections: the one that this row made
  thumbs_up         INTEGER NOT NULL,
  reason            TEXT,
  expected_output   TEXT,
  expected_score    REAL,
  score_direction   TEXT,
  criteria_feedback TEXT, -- JSON object, as in `feedback`
  given_at          INTEGER NOT NULL
) STRICT;

INSERT INTO corrections
SELECT feedback_id, judge_id, span_id, user_id, evaluation_seq, revision, thumbs_up, reason, expected_output,
  expected_score, score_direction, criteria_feedback, given_at
FROM judge_statements;

DROP TABLE judge_statements;

CREATE UNIQUE INDEX corrections_by_feedback ON corrections (feedback_id, coalesce(evaluation_seq, 0));
CREATE INDEX corrections_by_revision ON corrections (judge_id, revision);
CREATE INDEX corrections_by_span ON corrections (judge_id, span_id, revision);
CREATE INDEX corrections_by_evaluation ON corrections (evaluation_seq);

-- The set of corrections of each judge: its revision grows with every one that is new, changed or removed, so that it
-- never stands for another set.
ALTER TABLE judge_examples RENAME TO correction_sets;
ALTER TABLE correction_sets RENAME COLUMN removed TO last_removal; -- the last revision at which one went; 0: none ever did
