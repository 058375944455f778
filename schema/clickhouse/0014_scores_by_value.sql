-- The rows of scores in the order of their numbers, from which the first of a list that is sorted by a score, and those in a range, are
-- found without reading all of a name. ClickHouse keeps it with each part, so that whatever is moved, frozen or deleted takes it along.
ALTER TABLE scores MODIFY SETTING lightweight_mutation_projection_mode = 'rebuild';
ALTER TABLE scores ADD PROJECTION IF NOT EXISTS scores_by_value (
  SELECT project_id, entity_type, name, number, entity_id, ver ORDER BY project_id, entity_type, name, number, entity_id
);
ALTER TABLE scores MATERIALIZE PROJECTION scores_by_value;
