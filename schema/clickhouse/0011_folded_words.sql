-- Words are kept in lower case beyond ASCII, too, so that a search compares bytes, and those of error messages and codes beside
-- those of inputs and outputs: the table is filled anew in the background.
TRUNCATE TABLE span_words;
