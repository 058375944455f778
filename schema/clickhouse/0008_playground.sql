-- Calls of models from the playground are the server's own, too (src/domain/schema/own-calls.ts has the tags).
ALTER TABLE spans MODIFY COLUMN internal UInt8 DEFAULT mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground');

ALTER TABLE traces MODIFY COLUMN internal UInt8 DEFAULT mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground');

DROP VIEW IF EXISTS store_trace_starts;

CREATE MATERIALIZED VIEW IF NOT EXISTS store_trace_starts TO trace_starts AS
SELECT project_id, started_at, id FROM traces_recomputed
WHERE NOT gone AND NOT (mapContains(tags, 'spanhouse.judge') OR mapContains(tags, 'spanhouse.calibration') OR mapContains(tags, 'spanhouse.optimization') OR mapContains(tags, 'spanhouse.playground'));
