-- A row may name any hash. It keeps a file, and its readers get it, only where the file was sent for a row of the same dataset: in the
-- request that writes the row, whose reference has the dataset in place of a trace, or before, so that another row names it already.

DROP TRIGGER dataset_content_names_files;

CREATE TRIGGER dataset_content_names_files AFTER INSERT ON dataset_contents
WHEN instr(NEW.content, '"attachments"') > 0 AND json_valid(NEW.content) AND json_type(NEW.content, '$.attachments') = 'object'
BEGIN
  INSERT OR IGNORE INTO dataset_files (project_id, sha256, content)
  SELECT d.project_id, json_extract(f.value, '$.sha256'), NEW.seq
  FROM datasets AS d CROSS JOIN json_each(NEW.content, '$.attachments') AS f
  WHERE d.seq = NEW.dataset AND f.type = 'object' AND json_type(f.value, '$.sha256') = 'text'
    AND length(json_extract(f.value, '$.sha256')) = 64
    AND (
      EXISTS (SELECT 1 FROM attachment_namings AS n
        WHERE n.project_id = d.project_id AND n.sha256 = json_extract(f.value, '$.sha256') AND n.trace_id = d.id)
      OR EXISTS (SELECT 1 FROM dataset_files AS k CROSS JOIN dataset_contents AS c ON c.seq = k.content
        WHERE k.project_id = d.project_id AND k.sha256 = json_extract(f.value, '$.sha256') AND c.dataset = NEW.dataset)
    );
END;
