-- Clients of Langfuse send images apart from the spans that name them, before or after. When such an image was announced,
-- microseconds since 1970: its naming waits for the span, which may come later, without a version until then.

ALTER TABLE attachment_namings ADD COLUMN announced_at INTEGER;

CREATE INDEX attachment_namings_awaited ON attachment_namings (project_id)
  WHERE version IS NULL AND announced_at IS NOT NULL;
