-- Versions of prompts can be deleted. Their numbers are not given again, and the history of a tag goes on naming them.

ALTER TABLE prompts ADD COLUMN last_version INTEGER NOT NULL DEFAULT 0; -- the highest number that a version of it ever had

UPDATE prompts SET last_version = (SELECT ifnull(max(version), 0) FROM prompt_versions WHERE prompt_id = prompts.id);

-- As it was, but for the reference to the version.
CREATE TABLE tag_pins (
  id         INTEGER PRIMARY KEY AUTOINCREMENT, -- the order in which they happened
  prompt_id  TEXT NOT NULL REFERENCES prompts (id),
  tag        TEXT NOT NULL CHECK (length(tag) BETWEEN 1 AND 64 AND tag <> 'latest'),
  version    INTEGER NOT NULL, -- the last pin of a tag names one that is there
  pinned_at  INTEGER NOT NULL,
  pinned_by  TEXT NOT NULL REFERENCES users (id)
) STRICT;

INSERT INTO tag_pins SELECT id, prompt_id, tag, version, pinned_at, pinned_by FROM prompt_tag_pins;

DROP TABLE prompt_tag_pins;
ALTER TABLE tag_pins RENAME TO prompt_tag_pins;

CREATE INDEX prompt_tag_pins_by_tag ON prompt_tag_pins (prompt_id, tag, id);
