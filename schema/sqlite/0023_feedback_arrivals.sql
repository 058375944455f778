-- The order in which feedback came, by numbers that are never given twice: row numbers are, once the last row is gone. Retention asks
-- by it which spans of a project got feedback since it began to look.
CREATE TABLE feedback_arrivals (
  last INTEGER NOT NULL
) STRICT;

ALTER TABLE feedback ADD COLUMN arrival INTEGER;
UPDATE feedback SET arrival = rowid;
INSERT INTO feedback_arrivals (last) SELECT coalesce(max(arrival), 0) FROM feedback;

CREATE INDEX feedback_by_arrival ON feedback (project_id, arrival, completion_id);

CREATE TRIGGER feedback_arrives AFTER INSERT ON feedback
BEGIN
  UPDATE feedback_arrivals SET last = last + 1;
  UPDATE feedback SET arrival = (SELECT last FROM feedback_arrivals) WHERE id = NEW.id;
END;
