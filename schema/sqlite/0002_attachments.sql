-- Images taken out of spans, once per project and content. `stored` is 1 from when it is durable in the store until its
-- removal begins.
CREATE TABLE attachments (
  project_id TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes      INTEGER NOT NULL,
  stored     INTEGER NOT NULL,
  PRIMARY KEY (project_id, sha256)
) STRICT, WITHOUT ROWID;

-- The span versions that name an image, written before the image and the span. `version` is when the span version was
-- taken in, microseconds since 1970: unique, and null until the span is known to be stored.
CREATE TABLE attachment_namings (
  id         INTEGER PRIMARY KEY,
  project_id TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  trace_id   TEXT NOT NULL,
  span_id    TEXT NOT NULL,
  version    INTEGER
) STRICT;

CREATE INDEX attachment_namings_by_image ON attachment_namings (project_id, sha256);
CREATE INDEX attachment_namings_by_version ON attachment_namings (version, id);

-- Images that lost a naming: where a sweep looks, so that it never reads all of them.
CREATE TABLE attachment_leftovers (
  project_id TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  PRIMARY KEY (project_id, sha256)
) STRICT, WITHOUT ROWID;

-- Random keys of this server, such as the one that signs URLs.
CREATE TABLE secrets (
  name  TEXT PRIMARY KEY,
  value BLOB NOT NULL
) STRICT;
