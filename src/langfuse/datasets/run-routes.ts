import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import { ANY, type Experiment } from '../../features/experiments/experiment.js';
import type { ExperimentService } from '../../features/experiments/experiment-service.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { renderError } from '../errors.js';
import { metaOf, PageMeta, pageParameters } from '../page.js';
import { TAG } from '../tag.js';
import { datasetName, DatasetParams, nameOf } from './names.js';
import { idsOf, runNamed } from './run-item-routes.js';
import type { RunItemRead } from './runs.js';
import { RunRead, runName, RunWithItems, toRunItemRead, toRunRead } from './runs.js';

export interface LangfuseRuns {
  readonly datasets: Pick<DatasetService, 'find'>;
  readonly experiments: Pick<ExperimentService, 'named' | 'listed' | 'count' | 'results' | 'remove'>;
}

/** Most items that come with their run, and how many are read together. */
const MAX_ITEMS = 10_000;
const AT_ONCE = 1_000;

const RunParams = Type.Object({ dataset_name: datasetName, run_name: runName });

/** Runs of datasets, as clients of Langfuse read and delete them. */
export function langfuseRunRoutes(services: LangfuseRuns) {
  return [listRoute(services), getRoute(services), deleteRoute(services)];
}

const RunPage = Type.Object(
  { data: Type.Array(RunRead, { description: 'A page of runs, newest first.' }), meta: PageMeta },
  { $id: 'LangfuseRuns', description: 'A page of runs.' },
);

function listRoute({ datasets, experiments }: LangfuseRuns) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/datasets/:dataset_name+/runs',
    operationId: 'listLangfuseRuns',
    scopes: ['datasets:read'],
    summary: 'List runs of a dataset (Langfuse)',
    description: 'Lists the experiments on the dataset, newest first.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    query: queryOf(Type.Object(pageParameters('runs', 10_000))),
    responses: { 200: { description: 'The runs.', schema: RunPage } },
    errors: ['not_found', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, params: { dataset_name }, query: { page, limit }, signal }) {
      const filter = { ...ANY, dataset: datasets.find(project_id, nameOf(dataset_name)).id };
      const window = { limit, offset: (page - 1) * limit };
      const found = await experiments.listed(project_id, filter, window, signal);
      const meta = metaOf({ page, limit }, experiments.count(project_id, filter));
      return { status: 200, body: { data: found.map(toRunRead), meta } };
    },
  });
}

function getRoute({ datasets, experiments }: LangfuseRuns) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/datasets/:dataset_name+/runs/:run_name',
    operationId: 'getLangfuseRun',
    scopes: ['datasets:read'],
    summary: 'Get a run of a dataset (Langfuse)',
    description: `Returns the newest experiment on the dataset with this name, with up to ${MAX_ITEMS} items.`,
    tag: TAG,
    access: 'key',
    bulk: true,
    params: RunParams,
    responses: { 200: { description: 'The run with its items.', schema: RunWithItems } },
    errors: ['not_found', 'too_large', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, params: { dataset_name, run_name }, signal }) {
      const { id } = datasets.find(project_id, nameOf(dataset_name));
      const run = runNamed(experiments, project_id, id, nameOf(run_name));
      const datasetRunItems = await itemsOf(experiments, project_id, run, signal);
      return { status: 200, body: { ...toRunRead(run), datasetRunItems } };
    },
  });
}

async function itemsOf(
  experiments: Pick<ExperimentService, 'results'>,
  projectId: string,
  run: Experiment,
  signal: AbortSignal,
): Promise<Static<typeof RunItemRead>[]> {
  const items: Static<typeof RunItemRead>[] = [];
  for (let offset: number | null = 0; offset !== null;) {
    const window = { limit: AT_ONCE, offset, count: false };
    const read = await experiments.results(projectId, { ...idsOf(run), ...window }, signal);
    items.push(...read.results.map((result) => toRunItemRead(run, result)));
    if (items.length > MAX_ITEMS)
      throw new DomainError(
        'too_large',
        `The run has more than ${MAX_ITEMS} items: list them by pages, with GET /api/public/dataset-run-items`,
      );
    offset = read.next;
  }
  return items;
}

const Deleted = Type.Object({ message: Type.String({ description: 'That it is deleted.' }) });

function deleteRoute({ datasets, experiments }: LangfuseRuns) {
  return defineRoute({
    method: 'DELETE',
    path: '/api/public/datasets/:dataset_name+/runs/:run_name',
    operationId: 'deleteLangfuseRun',
    scopes: ['datasets:write'],
    summary: 'Delete a run of a dataset (Langfuse)',
    description: 'Deletes the experiment with its results. Traces to which results were linked stay.',
    tag: TAG,
    access: 'key',
    params: RunParams,
    responses: { 200: { description: 'The run is deleted.', schema: Deleted } },
    errors: ['not_found', 'overloaded', 'unavailable'],
    renderError,
    async handle({ principal, params: { dataset_name, run_name } }) {
      const { project_id } = principal;
      const { id } = datasets.find(project_id, nameOf(dataset_name));
      await experiments.remove(principal, runNamed(experiments, project_id, id, nameOf(run_name)).id);
      return { status: 200, body: { message: 'Dataset run successfully deleted' } };
    },
  });
}
