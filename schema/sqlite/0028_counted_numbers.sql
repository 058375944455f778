-- Numbers that servers count came from imports as they liked: beyond what JavaScript reads exactly, and removals at revisions that are
-- still to come. A judge with such a set, or the list of such a prompt's versions, held a server up for good.
UPDATE corrections SET revision = 4503599627370496 WHERE revision > 4503599627370496; -- 2^52, half of the numbers that are exact
UPDATE correction_sets SET revision = min(max(revision, last_removal), 4503599627370496),
  last_removal = min(last_removal, 4503599627370496)
WHERE revision < last_removal OR revision > 4503599627370496;

-- The highest number of a version is 10^9. A prompt that has come further keeps its versions, and gets no new ones.
UPDATE prompts SET last_version = ifnull((SELECT max(v.version) FROM prompt_versions AS v WHERE v.prompt_id = prompts.id), 0)
WHERE last_version > 1000000000
  AND NOT EXISTS (SELECT 1 FROM prompt_versions AS v WHERE v.prompt_id = prompts.id AND v.version > 1000000000);

-- A move is dated behind those that count, which another installation may have dated minutes ahead: exports go by when it came.
ALTER TABLE prompt_tag_pins ADD COLUMN stored_at INTEGER; -- null: at `pinned_at`
