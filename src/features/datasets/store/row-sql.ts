/** SQL for the number by which rows name a dataset, whose id is `@id`. */
export const DATASET = '(SELECT seq FROM datasets WHERE id = @id)';

/** SQL for whether a row is in a version. */
export const isIn = (alias: string, number: string): string =>
  `${alias}.from_version <= ${number} AND (${alias}.to_version IS NULL OR ${alias}.to_version > ${number})`;
