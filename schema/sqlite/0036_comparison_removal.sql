-- Comparisons are removed by portions: those of an experiment with it, and those of a dataset once a row of it was erased, or it was
-- deleted, as what they found says things of its rows. None is shown meanwhile.
DROP TRIGGER comparisons_go_with_experiments;

ALTER TABLE datasets ADD COLUMN rows_erased_at INTEGER; -- comparisons that began until then are gone; null: none was erased

CREATE INDEX datasets_with_erased_rows ON datasets (id) WHERE rows_erased_at IS NOT NULL;
CREATE INDEX comparisons_by_dataset ON comparisons (dataset_id, created_at);

CREATE TRIGGER rows_erased AFTER UPDATE OF content ON dataset_rows WHEN NEW.content IS NULL AND OLD.content IS NOT NULL
BEGIN
  UPDATE datasets SET rows_erased_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) * 1000 WHERE seq = NEW.dataset;
END;

CREATE TRIGGER dataset_deleted AFTER UPDATE OF deleted_at ON datasets WHEN NEW.deleted_at IS NOT NULL AND OLD.deleted_at IS NULL
BEGIN
  UPDATE datasets SET rows_erased_at = CAST(unixepoch('subsec') * 1000 AS INTEGER) * 1000 WHERE seq = NEW.seq;
END;
