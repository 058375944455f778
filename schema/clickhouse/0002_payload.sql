-- Input and output of a span in one column: what a span gives back is what the next one takes, so that side by side they
-- compress to three quarters of what they take apart. Large blocks, because a text comes back a few rows further on.
ALTER TABLE spans
  ADD COLUMN IF NOT EXISTS payload String CODEC(ZSTD(1)), -- input, then output
  ADD COLUMN IF NOT EXISTS input_bytes Nullable(UInt32), -- how much of it is input; null: there was none
  ADD COLUMN IF NOT EXISTS no_output UInt8 DEFAULT 2; -- 2: a row from before, not moved yet

ALTER TABLE spans MODIFY COLUMN payload MODIFY SETTING min_compress_block_size = 1048576, max_compress_block_size = 2097152;

-- Rows from before. A run that was cut off goes on where it was: what is moved stays as it is.
ALTER TABLE spans
  ADD COLUMN IF NOT EXISTS input_data Nullable(String),
  ADD COLUMN IF NOT EXISTS output_data Nullable(String);

ALTER TABLE spans
  UPDATE payload = concat(ifNull(input_data, ''), ifNull(output_data, '')), input_bytes = length(input_data), no_output = isNull(output_data)
  WHERE no_output = 2;

ALTER TABLE spans
  DROP COLUMN IF EXISTS input_data,
  DROP COLUMN IF EXISTS output_data;

ALTER TABLE spans
  ADD COLUMN IF NOT EXISTS input_data Nullable(String) ALIAS if(isNull(input_bytes), NULL, substring(payload, 1, assumeNotNull(input_bytes))),
  ADD COLUMN IF NOT EXISTS output_data Nullable(String) ALIAS if(no_output, NULL, substring(payload, ifNull(input_bytes, 0) + 1));

-- From here on the size of a part decides how well it is compressed, see engine.xml. Not before: the rows moved above are
-- in parts whose default may still be another.
ALTER TABLE spans MODIFY COLUMN payload CODEC(Default), MODIFY COLUMN attributes CODEC(Default);
