/** SQL for the number by which rows name a dataset, whose id is `@id`. */
export const DATASET = '(SELECT seq FROM datasets WHERE id = @id)';

/** SQL for whether a row is in a version. */
export const isIn = (alias: string, number: string): string =>
  `${alias}.from_version <= ${number} AND (${alias}.to_version IS NULL OR ${alias}.to_version > ${number})`;

/** Rows that one transaction removes: a few milliseconds of work. */
export const AT_ONCE = 500;
/** The same of rows and contents that are overwritten as they go: each may have a megabyte. */
export const TEXTS_AT_ONCE = 20;
