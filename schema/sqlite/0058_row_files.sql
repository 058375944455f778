-- Files that rows of datasets name in a column `attachments`: `{"<name>": {"sha256": …}}`. They are kept as long as any row says so,
-- of whatever version; the triggers go with the content, whoever writes or removes it.

CREATE TABLE dataset_files (
  project_id TEXT NOT NULL,
  sha256     TEXT NOT NULL,
  content    INTEGER NOT NULL, -- dataset_contents.seq
  PRIMARY KEY (project_id, sha256, content)
) STRICT, WITHOUT ROWID;

CREATE INDEX dataset_files_by_content ON dataset_files (content);

CREATE TRIGGER dataset_content_names_files AFTER INSERT ON dataset_contents
WHEN instr(NEW.content, '"attachments"') > 0 AND json_valid(NEW.content) AND json_type(NEW.content, '$.attachments') = 'object'
BEGIN
  INSERT OR IGNORE INTO dataset_files (project_id, sha256, content)
  SELECT d.project_id, json_extract(f.value, '$.sha256'), NEW.seq
  FROM datasets AS d CROSS JOIN json_each(NEW.content, '$.attachments') AS f
  WHERE d.seq = NEW.dataset AND f.type = 'object' AND json_type(f.value, '$.sha256') = 'text'
    AND length(json_extract(f.value, '$.sha256')) = 64;
END;

-- A file that nothing names any more is not answered from now on, and the next sweep removes it.
CREATE TRIGGER dataset_content_leaves_files AFTER DELETE ON dataset_contents
WHEN EXISTS (SELECT 1 FROM dataset_files WHERE content = OLD.seq)
BEGIN
  INSERT OR IGNORE INTO attachment_leftovers (project_id, sha256)
  SELECT project_id, sha256 FROM dataset_files WHERE content = OLD.seq;
  UPDATE attachments SET stored = 0
  WHERE (project_id, sha256) IN (SELECT project_id, sha256 FROM dataset_files WHERE content = OLD.seq)
    AND NOT EXISTS (SELECT 1 FROM attachment_namings AS n
      WHERE n.project_id = attachments.project_id AND n.sha256 = attachments.sha256)
    AND NOT EXISTS (SELECT 1 FROM dataset_files AS f
      WHERE f.project_id = attachments.project_id AND f.sha256 = attachments.sha256 AND f.content <> OLD.seq);
  DELETE FROM dataset_files WHERE content = OLD.seq;
END;
