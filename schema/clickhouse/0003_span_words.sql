-- Which words stand in the inputs and outputs of some thousand spans that lie next to each other in time: a search by text
-- reads these few bytes first, and then only the spans where all its words occur. Filled in the background.
CREATE TABLE IF NOT EXISTS span_words (
  project_id LowCardinality(String),
  started_from DateTime64(6, 'UTC'),
  started_to DateTime64(6, 'UTC'),
  spans UInt64,
  indexed_to UInt64, -- every span version up to here is in a row of this table
  complete UInt8, -- 0: too few spans, or too many words, to be worth the space; then any text may be there
  words String CODEC(ZSTD(9)), -- of letters only, lower case, each between line breaks; of a word with digits its runs of letters
  figures String CODEC(ZSTD(9)) -- words with digits in them
) ENGINE = MergeTree
ORDER BY (project_id, started_from)
SETTINGS index_granularity = 64, fsync_after_insert = 1, fsync_part_directory = 1;
