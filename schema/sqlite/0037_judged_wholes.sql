-- What a judge evaluates: single spans, whole traces, or the conversations of sessions. It never changes.
ALTER TABLE judges ADD COLUMN subject TEXT NOT NULL DEFAULT 'span' CHECK (subject IN ('span', 'trace', 'session'));
ALTER TABLE judges ADD COLUMN quiet_seconds INTEGER; -- null: the default of the subject
ALTER TABLE judges ADD COLUMN context_tokens INTEGER; -- null: the default
ALTER TABLE judges ADD COLUMN context_kinds TEXT NOT NULL DEFAULT '[]'; -- JSON array of kinds; empty: any

-- The trace or session that a run is about, or an evaluation was of; null: a span. `span_id` is then the span that stands for it.
ALTER TABLE judge_runs ADD COLUMN subject_id TEXT;
-- When it is due again because of spans that came since it was last read; null: none came.
ALTER TABLE judge_runs ADD COLUMN again_at INTEGER;
ALTER TABLE evaluations ADD COLUMN subject_id TEXT;
-- Moment up to which the spans of a trace or session had arrived that the judge was shown.
ALTER TABLE evaluations ADD COLUMN subject_upto INTEGER;

-- By itself a judge evaluates a span once, and a trace or session whenever it has changed.
DROP INDEX automatic_evaluations;
CREATE UNIQUE INDEX automatic_evaluations ON evaluations (judge_id, span_id)
  WHERE origin = 'automatic' AND subject_id IS NULL;
DROP INDEX automatic_judge_runs;
CREATE UNIQUE INDEX automatic_judge_runs ON judge_runs (judge_id, span_id)
  WHERE origin = 'automatic' AND subject_id IS NULL;
CREATE UNIQUE INDEX automatic_judge_runs_of_wholes ON judge_runs (judge_id, subject_id)
  WHERE origin = 'automatic' AND subject_id IS NOT NULL;
CREATE INDEX judge_runs_of_wholes ON judge_runs (judge_id, subject_id) WHERE subject_id IS NOT NULL;
CREATE INDEX evaluations_of_wholes ON evaluations (judge_id, subject_id, seq, origin, subject_upto)
  WHERE subject_id IS NOT NULL;

-- The traces that a judge was shown for an evaluation of a trace or session: what it says goes with any span of them. Noted
-- before a model is asked, of a run, or of calls that `judge_calls` tells of.
CREATE TABLE judged_traces (
  project_id TEXT NOT NULL,
  trace_id   TEXT NOT NULL,
  run_id     TEXT NOT NULL, -- of the run, and of its evaluation
  PRIMARY KEY (project_id, trace_id, run_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX judged_traces_by_run ON judged_traces (run_id);

-- A run that ends without an evaluation leaves its traces to the calls that it may have made; an evaluation tells of its own.
DROP TRIGGER run_made_calls;
CREATE TRIGGER run_made_calls AFTER DELETE ON judge_runs
WHEN OLD.attempts > 0 OR (OLD.subject_id IS NOT NULL AND EXISTS (SELECT 1 FROM judged_traces WHERE run_id = OLD.id))
BEGIN
  INSERT INTO judge_calls (run_id, project_id, span_id, created_at, after_deletion)
  VALUES (OLD.id, OLD.project_id, OLD.span_id, OLD.created_at, OLD.after_deletion) ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER evaluation_tells_of_calls AFTER INSERT ON evaluations WHEN NEW.subject_id IS NOT NULL
BEGIN
  DELETE FROM judge_calls WHERE run_id = NEW.id;
END;
