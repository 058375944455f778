-- Whether the image that a client announced has come: what has not, and is not overdue, counts against what a project may
-- announce. What has waits for its span alone.

ALTER TABLE attachment_namings ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0;

UPDATE attachment_namings SET arrived = 1 WHERE version IS NULL AND announced_at IS NOT NULL AND EXISTS (
  SELECT 1 FROM attachments AS a
  WHERE a.project_id = attachment_namings.project_id AND a.sha256 = attachment_namings.sha256 AND a.stored = 1);

CREATE INDEX attachment_namings_open ON attachment_namings (project_id, announced_at)
  WHERE version IS NULL AND announced_at IS NOT NULL AND arrived = 0;
