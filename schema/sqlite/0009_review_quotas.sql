-- What the reviewers of a feedback link hold of it, by where they come from, so that few cannot fill it up.

-- Whoever holds the name, hashed: the same name in another browser is another reviewer. Of guests from before this
-- migration, the name alone, normalised and in lower case.
ALTER TABLE feedback_guests RENAME COLUMN name_key TO guest_key;
ALTER TABLE feedback_guests ADD COLUMN site TEXT; -- the network they first came from, hashed with a key; null: not known
ALTER TABLE feedback_guests ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0; -- of their feedback: 512 and its texts each

CREATE INDEX feedback_guests_by_user ON feedback_guests (user_id);

UPDATE feedback_guests SET bytes = given.bytes
FROM (
  SELECT user_id, sum(512 + octet_length(ifnull(reason, '')) + octet_length(ifnull(expected_output, ''))) AS bytes
  FROM feedback GROUP BY user_id
) AS given
WHERE given.user_id = feedback_guests.user_id;

CREATE TRIGGER feedback_takes_room AFTER INSERT ON feedback
BEGIN
  UPDATE feedback_guests
  SET bytes = bytes + 512 + octet_length(ifnull(NEW.reason, '')) + octet_length(ifnull(NEW.expected_output, ''))
  WHERE user_id = NEW.user_id;
END;

CREATE TRIGGER feedback_changes_room AFTER UPDATE OF reason, expected_output ON feedback
BEGIN
  UPDATE feedback_guests
  SET bytes = bytes + octet_length(ifnull(NEW.reason, '')) + octet_length(ifnull(NEW.expected_output, ''))
    - octet_length(ifnull(OLD.reason, '')) - octet_length(ifnull(OLD.expected_output, ''))
  WHERE user_id = NEW.user_id;
END;

CREATE TRIGGER feedback_leaves_room AFTER DELETE ON feedback
BEGIN
  UPDATE feedback_guests
  SET bytes = bytes - 512 - octet_length(ifnull(OLD.reason, '')) - octet_length(ifnull(OLD.expected_output, ''))
  WHERE user_id = OLD.user_id;
END;
