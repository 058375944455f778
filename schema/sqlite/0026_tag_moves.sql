-- A tag points where its latest move says, by the times of its moves and then by their order, and by none that named a version which was
-- not there: so history that is imported later moves no tag back.
ALTER TABLE prompt_tag_pins ADD COLUMN counts INTEGER NOT NULL DEFAULT 1 CHECK (counts IN (0, 1)); -- 0: history alone

UPDATE prompt_tag_pins SET counts = 0 WHERE version <> 0
  AND NOT EXISTS (SELECT 1 FROM prompt_versions AS v WHERE v.prompt_id = prompt_tag_pins.prompt_id AND v.version = prompt_tag_pins.version);

-- What was stored last stays the latest.
UPDATE prompt_tag_pins SET pinned_at = CAST(unixepoch('subsec') * 1000000 AS INTEGER)
WHERE pinned_at > CAST(unixepoch('subsec') * 1000000 AS INTEGER);
CREATE TEMP TABLE latest AS SELECT max(id) AS id, max(pinned_at) AS at FROM prompt_tag_pins WHERE counts = 1 GROUP BY prompt_id, tag;
UPDATE prompt_tag_pins SET pinned_at = latest.at FROM latest WHERE latest.id = prompt_tag_pins.id AND pinned_at < latest.at;
DROP TABLE latest;

DROP INDEX prompt_tag_pins_by_tag;
CREATE INDEX prompt_tag_pins_by_tag ON prompt_tag_pins (prompt_id, tag, pinned_at, id);
-- Imports ask of each move whether it is there; very many may have one time.
CREATE INDEX prompt_tag_pins_by_move ON prompt_tag_pins (prompt_id, tag, pinned_at, version);
CREATE INDEX prompt_tag_pins_that_count ON prompt_tag_pins (prompt_id, tag, pinned_at, id, version) WHERE counts = 1;

-- Imports ask of each record whether its person has a key of the project.
CREATE INDEX api_keys_by_project_and_user ON api_keys (project_id, user_id);
