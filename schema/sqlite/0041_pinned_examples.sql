-- What versions of judges that are pinned show of corrections: each text once for all versions of its judge that show it.
CREATE TABLE judge_pin_examples (
  seq      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  judge_id TEXT NOT NULL REFERENCES judges (id),
  span_id  TEXT NOT NULL,
  example  TEXT NOT NULL -- JSON: the correction, what its span says, and the line that shows both
) STRICT;

INSERT INTO judge_pin_examples (id, judge_id, span_id, example)
SELECT lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2) || '-8' || substr(hex(randomblob(2)), 2)
    || '-' || hex(randomblob(6))), judge_id, span_id, example
FROM (SELECT DISTINCT p.judge_id, c.span_id, c.example FROM judge_pin_corrections AS c JOIN judge_pins AS p ON p.seq = c.pin);

CREATE INDEX judge_pin_examples_by_span ON judge_pin_examples (span_id, judge_id);
CREATE INDEX judge_pin_examples_of_judge ON judge_pin_examples (judge_id);

CREATE TABLE new_judge_pin_corrections (
  pin      INTEGER NOT NULL REFERENCES judge_pins (seq),
  position INTEGER NOT NULL, -- oldest first
  example  INTEGER NOT NULL REFERENCES judge_pin_examples (seq),
  PRIMARY KEY (pin, position)
) STRICT, WITHOUT ROWID;

INSERT INTO new_judge_pin_corrections
SELECT c.pin, c.position, (
  SELECT e.seq FROM judge_pin_examples AS e WHERE e.span_id = c.span_id AND e.judge_id = p.judge_id AND e.example = c.example)
FROM judge_pin_corrections AS c JOIN judge_pins AS p ON p.seq = c.pin;
DROP TABLE judge_pin_corrections;
ALTER TABLE new_judge_pin_corrections RENAME TO judge_pin_corrections;
CREATE INDEX judge_pin_corrections_by_example ON judge_pin_corrections (example, pin);
