import type { Experiment } from './experiments.js';

/** Where the server is, and the key. */
export type Connection = Readonly<Record<'SPANHOUSE_URL' | 'SPANHOUSE_KEY', string>>;

/** The variables by which the command learns what to do, beside the connection. */
export const EXPERIMENT_VARIABLES = [
  'SPANHOUSE_PROJECT_ID',
  'SPANHOUSE_EXPERIMENT',
  'SPANHOUSE_EXPERIMENT_ID',
  'SPANHOUSE_EXPERIMENT_NAME',
  'SPANHOUSE_DATASET',
  'SPANHOUSE_DATASET_VERSION',
  'SPANHOUSE_REPETITIONS',
] as const;

export function environmentOf(
  { id, name, dataset, dataset_version, repetitions }: Experiment,
  project: string,
  connection: Connection,
): Readonly<Record<string, string>> {
  const variables: Readonly<Record<(typeof EXPERIMENT_VARIABLES)[number], string>> = {
    SPANHOUSE_PROJECT_ID: project,
    SPANHOUSE_EXPERIMENT: id,
    SPANHOUSE_EXPERIMENT_ID: id,
    SPANHOUSE_EXPERIMENT_NAME: name,
    SPANHOUSE_DATASET: dataset.name,
    SPANHOUSE_DATASET_VERSION: String(dataset_version),
    SPANHOUSE_REPETITIONS: String(repetitions),
  };
  return { ...connection, ...variables };
}
