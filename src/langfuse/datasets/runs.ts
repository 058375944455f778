import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { orNull, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import type { StoredResult } from '../../engine/traces/model/experiment/results.js';
import { resultId } from '../../engine/traces/model/experiment/result-id.js';
import { MAX_ROW_ID } from '../../features/datasets/files/row-set.js';
import type { Experiment } from '../../features/experiments/experiment.js';
import { ExperimentDescription, ExperimentName } from '../../features/experiments/schema.js';
import { MAX_ID } from '../ids.js';

/* A run of a dataset is an experiment, and an item of a run one of its results, which names the trace in which it was made. */

export const runName = Type.String({
  ...ExperimentName,
  description: 'Name of the run: of an experiment on the dataset.',
});

export const CreateRunItem = Type.Object(
  {
    runName,
    runDescription: optional(ExperimentDescription),
    metadata: optional(Type.Unknown({ description: 'Becomes the parameters of the experiment when it is created.' })),
    datasetItemId: Type.String({ minLength: 1, maxLength: MAX_ROW_ID, description: 'Id of the item.' }),
    traceId: optional(Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Trace of the result. Required.' })),
    observationId: optional(
      Type.String({ minLength: 1, maxLength: MAX_ID, description: 'Ignored: the trace counts.' }),
    ),
    datasetVersion: optional(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description:
          'A time, in ISO 8601: a new experiment is about the newest version that there was then. Default: now.',
      }),
    ),
  },
  { $id: 'LangfuseCreateRunItem', description: 'An item of a run, as clients of Langfuse send it.' },
);
export type CreateRunItem = Static<typeof CreateRunItem>;

export const RunItemRead = Type.Object(
  {
    id: uuid('Id of the result.'),
    datasetRunId: uuid('Id of the experiment.'),
    datasetRunName: Type.String({ description: 'Name of the run.' }),
    datasetItemId: Type.String({ description: 'Id of the item.' }),
    traceId: Type.String({ description: 'Trace in which the result was made.' }),
    observationId: orNull(Type.String({ description: 'Span of the result, if it is in that trace.' })),
    createdAt: time('When the result was received.'),
    updatedAt: time('The same.'),
  },
  { $id: 'LangfuseRunItem', description: 'An item of a run, as clients of Langfuse read it.' },
);

const run = {
  id: uuid('Id of the experiment.'),
  name: Type.String({ description: 'Name of the run.' }),
  description: orNull(Type.String({ description: 'What ran, and why.' })),
  metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Parameters of the experiment.' }),
  datasetId: uuid('Id of the dataset.'),
  datasetName: Type.String({ description: 'Name of the dataset.' }),
  createdAt: time('When it began.'),
  updatedAt: time('When it was sent its last result, as far as is noted.'),
};
export const RunRead = Type.Object(run, { $id: 'LangfuseRun', description: 'A run, as clients of Langfuse read it.' });
export const RunWithItems = Type.Object(
  { ...run, datasetRunItems: Type.Array(RunItemRead, { description: 'The items of the run.' }) },
  { $id: 'LangfuseRunWithItems', description: 'A run with its items.' },
);

export function toRunRead(experiment: Experiment): Static<typeof RunRead> {
  const { id, name, description, parameters, dataset, created_at, active_at } = experiment;
  return {
    ...{ id, name, description: description === '' ? null : description, metadata: { ...parameters } },
    ...{ datasetId: dataset.id, datasetName: dataset.name },
    createdAt: formatTimestamp(created_at),
    updatedAt: formatTimestamp(active_at),
  };
}

export function toRunItemRead({ id, name }: Experiment, result: StoredResult): Static<typeof RunItemRead> {
  const { row_id, repetition, trace_id, created_at } = result;
  const own = resultId(id, row_id, repetition);
  const at = formatTimestamp(created_at);
  return {
    ...{ id: own, datasetRunId: id, datasetRunName: name, datasetItemId: row_id, traceId: trace_id },
    observationId: result.id === own ? null : result.id,
    ...{ createdAt: at, updatedAt: at },
  };
}
