-- What was stored, and the room that was left, every ten minutes of the last day: how fast disks fill. Bytes of all projects
-- together; times are microseconds since 1970, UTC.
CREATE TABLE storage_measurements (
  at          INTEGER PRIMARY KEY,
  spans       INTEGER NOT NULL,
  rollups     INTEGER NOT NULL,
  words       INTEGER NOT NULL,
  attachments INTEGER NOT NULL,
  sqlite      INTEGER NOT NULL,
  disks       TEXT NOT NULL -- JSON: name, free, total, minFree and what it holds, of each
) STRICT;
