-- A version is a text or, where is_chat is 1, the JSON of a list of messages. Text and config are what tells versions apart: content_hash is
-- the SHA-256 of the text alone where there is nothing else, and of all of it otherwise.
ALTER TABLE prompt_versions ADD COLUMN is_chat INTEGER NOT NULL DEFAULT 0 CHECK (is_chat IN (0, 1));
ALTER TABLE prompt_versions ADD COLUMN config TEXT NOT NULL DEFAULT '{}'; -- JSON object

DROP TRIGGER prompt_versions_are_immutable;
CREATE TRIGGER prompt_versions_are_immutable
BEFORE UPDATE OF id, prompt_id, version, content_hash, metadata, created_at, created_by, content, is_chat, config ON prompt_versions
BEGIN
  SELECT RAISE(ABORT, 'prompt versions are immutable');
END;
