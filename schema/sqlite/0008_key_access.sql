-- What a key may do: full, read (GET only) or ingest (spans, traces, sessions and OTLP only). Keys from before may do everything.

ALTER TABLE api_keys ADD COLUMN access TEXT NOT NULL DEFAULT 'full' CHECK (access IN ('full', 'read', 'ingest'));
