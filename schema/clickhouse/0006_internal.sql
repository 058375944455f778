-- Which spans and traces are the server's own calls of models (src/domain/schema/own-calls.ts has the tags), as columns:
-- lists leave them out, and would otherwise read the tags of every row.
ALTER TABLE spans ADD COLUMN IF NOT EXISTS internal UInt8 DEFAULT mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization');

ALTER TABLE spans MATERIALIZE COLUMN internal;

ALTER TABLE traces ADD COLUMN IF NOT EXISTS internal UInt8 DEFAULT mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization');

ALTER TABLE traces MATERIALIZE COLUMN internal;

-- The index of traces by time serves lists without them; what it has of them already does no harm.
DROP VIEW IF EXISTS store_trace_starts;

CREATE MATERIALIZED VIEW IF NOT EXISTS store_trace_starts TO trace_starts AS
SELECT project_id, started_at, id FROM traces_recomputed
WHERE NOT gone AND NOT (mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization'));
