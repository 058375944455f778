import { Type } from '@sinclair/typebox';

/** The name of a dataset in a body. */
export const datasetNameInBody = Type.String({ minLength: 1, maxLength: 200, description: 'Name of the dataset.' });

/** A name as the client means it: some escape it twice, and no name has a percent sign. */
export function nameOf(sent: string): string {
  try {
    return sent.includes('%') ? decodeURIComponent(sent) : sent;
  } catch {
    return sent;
  }
}

/** The part of a path. */
export const datasetName = Type.String({
  minLength: 1,
  maxLength: 400,
  description: 'Name or id of the dataset. Slashes need no escape.',
});
export const DatasetParams = Type.Object({ dataset_name: datasetName });
