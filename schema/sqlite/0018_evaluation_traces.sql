-- The trace that a span was in when it was evaluated here. Not known of older evaluations, nor of those that ran elsewhere.
ALTER TABLE evaluations ADD COLUMN trace_id TEXT;
