import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { count, orNull, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import { ANY, type Experiment } from '../../features/experiments/experiment.js';
import type { ExperimentService, MeasuredExperiment } from '../../features/experiments/experiment-service.js';
import { ExperimentDescription, ExperimentName, Repetitions } from '../../features/experiments/schema.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { cursor, cursorBehind, limit, nextCursor, offsetAt } from '../cursor.js';
import { DatasetParams } from '../datasets/dataset-routes.js';
import { MAX_SPLITS, SplitName, splitsMeant, subjectOf } from './splits.js';
import { BASE, TAG } from '../tag.js';

export interface PhoenixExperiments {
  readonly experiments: Pick<ExperimentService, 'create' | 'find' | 'get' | 'list' | 'remove' | 'results'>;
  readonly datasets: Pick<DatasetService, 'find' | 'version' | 'newest' | 'allRows'>;
}

const metadata = Type.Record(Type.String(), Type.Unknown(), { description: 'Parameters of the experiment.' });
const ExperimentRead = Type.Object(
  {
    id: uuid('Id of the experiment.'),
    dataset_id: uuid('Id of the dataset.'),
    dataset_version_id: Type.String({ description: 'Id of the version of the dataset, or its number.' }),
    name: Type.String({ description: 'Name of the experiment.' }),
    description: orNull(Type.String({ description: 'What runs, and why.' })),
    repetitions: Type.Integer({ minimum: 1, description: 'How often each example is run.' }),
    metadata,
    project_name: Type.String({ description: 'The tag `project` of traces in which clients run the task.' }),
    created_at: time('When it was created.'),
    updated_at: time('When it was sent its last result, as far as is noted.'),
    example_count: count('Examples of the version that are meant.'),
    successful_run_count: count('Results without an error.'),
    failed_run_count: count('Results with an error.'),
    missing_run_count: count('Repetitions of examples without a result.'),
  },
  { $id: 'PhoenixExperiment', description: 'An experiment, as clients of Phoenix read it.' },
);

const ExperimentInput = Type.Object(
  {
    name: optional({ ...ExperimentName, description: 'Name of the experiment. Default: that of the dataset.' }),
    description: optional(ExperimentDescription),
    metadata: optional(metadata),
    version_id: optional(
      Type.String({ maxLength: 64, description: 'Id of a version of the dataset. Default: the newest.' }),
    ),
    repetitions: optional(Repetitions),
    splits: optional(
      Type.Array(SplitName, { maxItems: MAX_SPLITS, description: 'Only examples in one of these splits are meant.' }),
    ),
    project_name: optional(Type.Unknown({ description: 'Without effect: it is the name of the experiment.' })),
  },
  { $id: 'PhoenixExperimentInput', description: 'A new experiment, as clients of Phoenix send it.' },
);

const ExperimentAnswer = Type.Object(
  { data: ExperimentRead },
  { $id: 'PhoenixExperimentAnswer', description: 'An experiment.' },
);

/** Experiments, as clients of Phoenix create, read and delete them. */
export function experimentRoutes(services: PhoenixExperiments) {
  return [createRoute(services), listRoute(services), getRoute(services), deleteRoute(services)];
}

function createRoute(services: PhoenixExperiments) {
  return defineRoute({
    method: 'POST',
    path: `${BASE}/v1/datasets/:dataset_id/experiments`,
    operationId: 'createPhoenixExperiment',
    scopes: ['datasets:write'],
    summary: 'Create an experiment (Phoenix)',
    description: 'Creates an experiment on a version of the dataset.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    body: jsonBody(ExperimentInput, { lenient: true }),
    responses: { 200: { description: 'The experiment.', schema: ExperimentAnswer } },
    errors: ['invalid', 'not_found', 'conflict', 'unavailable'],
    async handle({ principal, params: { dataset_id }, body }) {
      const dataset = services.datasets.find(principal.project_id, dataset_id);
      const { version_id, name, description = null, repetitions = null } = body;
      const version =
        version_id == null || version_id === ''
          ? services.datasets.newest(dataset)
          : services.datasets.version(dataset, version_id);
      const splits = body.splits ?? [];
      const of = { projectId: principal.project_id, dataset, version };
      const experiment = services.experiments.create(principal, {
        ...{ name: name ?? dataset.name, dataset: dataset.id, description, repetitions },
        ...(version !== null && { dataset_version: version.id }),
        parameters: body.metadata ?? {},
        ...(splits.length > 0 && { subject: await subjectOf(services.datasets, of, splits) }),
      });
      const data = toRead(services, principal.project_id, { experiment, figures: null, run: null });
      return { status: 200, body: { data } };
    },
  });
}

const ExperimentPage = Type.Object(
  {
    data: Type.Array(ExperimentRead, { description: 'A page of experiments, newest first.' }),
    next_cursor: nextCursor,
  },
  { $id: 'PhoenixExperiments', description: 'A page of experiments.' },
);

function listRoute(services: PhoenixExperiments) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/datasets/:dataset_id/experiments`,
    operationId: 'listPhoenixExperiments',
    scopes: ['datasets:read'],
    summary: 'List experiments on a dataset (Phoenix)',
    description: 'Lists experiments on the dataset, newest first.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: DatasetParams,
    query: queryOf(Type.Object({ limit: limit('experiments', 200), cursor })),
    responses: { 200: { description: 'The experiments.', schema: ExperimentPage } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal: { project_id }, params, query: { limit: most, cursor: at }, signal }) {
      const { id } = services.datasets.find(project_id, params.dataset_id);
      const offset = offsetAt(at);
      const window = { limit: most, offset };
      const { experiments, total } = await services.experiments.list(
        project_id,
        { ...ANY, dataset: id },
        window,
        signal,
      );
      const data = experiments.map((each) => toRead(services, project_id, each));
      const end = offset + data.length;
      return { status: 200, body: { data, next_cursor: cursorBehind(end, end >= total) } };
    },
  });
}

export const ExperimentParams = Type.Object({ experiment_id: uuid('Id of the experiment.') });
const one = { tag: TAG, access: 'key', params: ExperimentParams } as const;

function getRoute(services: PhoenixExperiments) {
  return defineRoute({
    ...one,
    method: 'GET',
    path: `${BASE}/v1/experiments/:experiment_id`,
    operationId: 'getPhoenixExperiment',
    scopes: ['datasets:read'],
    summary: 'Get an experiment (Phoenix)',
    description: 'Returns an experiment with counts of its results.',
    responses: { 200: { description: 'The experiment.', schema: ExperimentAnswer } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal: { project_id }, params, signal }) {
      const found = await services.experiments.get(project_id, params.experiment_id, signal);
      return { status: 200, body: { data: toRead(services, project_id, found) } };
    },
  });
}

function deleteRoute({ experiments }: PhoenixExperiments) {
  return defineRoute({
    ...one,
    method: 'DELETE',
    path: `${BASE}/v1/experiments/:experiment_id`,
    operationId: 'deletePhoenixExperiment',
    scopes: ['datasets:write'],
    summary: 'Delete an experiment (Phoenix)',
    description: 'Deletes an experiment with its results. Traces in which the task ran stay.',
    query: queryOf(
      Type.Object({ delete_project: Type.Optional(Type.String({ description: 'Without effect: traces stay.' })) }),
    ),
    responses: { 204: { description: 'The experiment is deleted.' } },
    errors: ['not_found', 'overloaded', 'unavailable'],
    async handle({ principal, params }) {
      await experiments.remove(principal, params.experiment_id);
      return { status: 204 };
    },
  });
}

function toRead(
  { datasets }: PhoenixExperiments,
  projectId: string,
  { experiment, figures }: MeasuredExperiment,
): Static<typeof ExperimentRead> {
  const { id, name, description, dataset, rows, repetitions, parameters, created_at, active_at } = experiment;
  const { results = 0, errors = 0 } = figures ?? {};
  const examples = splitsMeant(experiment)?.examples ?? rows;
  return {
    ...{ id, name, description: description === '' ? null : description, repetitions, metadata: { ...parameters } },
    ...{ dataset_id: dataset.id, dataset_version_id: versionIdOf(datasets, projectId, experiment) },
    ...{ project_name: name, created_at: formatTimestamp(created_at), updated_at: formatTimestamp(active_at) },
    ...{ example_count: examples, successful_run_count: results - errors, failed_run_count: errors },
    missing_run_count: Math.max(0, examples * repetitions - results),
  };
}

/** Of a dataset that is gone, the number is all that is known. */
function versionIdOf(
  datasets: PhoenixExperiments['datasets'],
  projectId: string,
  { dataset, dataset_version }: Experiment,
): string {
  if (dataset.gone) return String(dataset_version);
  return datasets.version(datasets.find(projectId, dataset.id), String(dataset_version)).id;
}
