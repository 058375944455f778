import { Type } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { isJsonObject } from '../../engine/json-object.js';
import type { Principal } from '../../engine/identity/identity.js';
import { uuid } from '../../engine/schema/parts.js';
import { formatTimestamp, parseTimestamp } from '../../engine/timestamp.js';
import { resultId } from '../../engine/traces/model/experiment/result-id.js';
import { invalid } from '../../engine/validation/validation.js';
import type { Dataset } from '../../features/datasets/dataset.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import { requireRunning, type Experiment } from '../../features/experiments/experiment.js';
import type { ExperimentService } from '../../features/experiments/experiment-service.js';
import type { ResultIntake } from '../../features/experiments/result-intake.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { renderError } from '../errors.js';
import { ownId } from '../ids.js';
import { metaOf, PageMeta, pageParameters } from '../page.js';
import { TAG } from '../tag.js';
import { datasetOfItem } from './item-routes.js';
import { CreateRunItem, RunItemRead, runName, toRunItemRead } from './runs.js';

export interface LangfuseRunItems {
  readonly datasets: Pick<DatasetService, 'find' | 'holding' | 'versionAt'>;
  readonly experiments: Pick<ExperimentService, 'named' | 'create' | 'change' | 'results'>;
  readonly resultIntake: Pick<ResultIntake, 'store'>;
}

/** Items of runs, as clients of Langfuse link traces to items of datasets. */
export function langfuseRunItemRoutes(services: LangfuseRunItems) {
  return [postRoute(services), listRoute(services)];
}

function postRoute(services: LangfuseRunItems) {
  return defineRoute({
    method: 'POST',
    path: '/api/public/dataset-run-items',
    operationId: 'postLangfuseRunItem',
    scopes: ['datasets:write'],
    summary: 'Link a trace to an item of a dataset (Langfuse)',
    description:
      'Stores a result that names the trace, in the experiment on the dataset with the name of the run, which is created if there is ' +
      'none. An item has one result in a run: a new one replaces the old one.',
    tag: TAG,
    access: 'key',
    body: jsonBody(CreateRunItem, { lenient: true }),
    responses: { 200: { description: 'The item of the run.', schema: RunItemRead } },
    errors: ['invalid', 'not_found', 'conflict', 'overloaded', 'unavailable'],
    renderError,
    async handle({ principal, body }) {
      const { project_id: projectId } = principal;
      const { datasetItemId: rowId, traceId, observationId } = body;
      if (traceId == null) throw invalid([{ pointer: '/traceId', detail: 'is required' }]);
      const dataset = datasetOfItem(services.datasets, projectId, rowId);
      const experiment = experimentOf(services, principal, dataset, body);
      requireRunning(experiment);
      const result = { output: null, error: null, scores: {}, attempt: null, repetition: 1 };
      await services.resultIntake.store(projectId, experiment, [
        { ...result, row_id: rowId, trace_id: ownId(projectId, traceId) },
      ]);
      const at = formatTimestamp(Date.now() * 1000);
      const { id, name } = experiment;
      return {
        status: 200,
        body: {
          ...{ id: resultId(id, rowId, 1), datasetRunId: id, datasetRunName: name, datasetItemId: rowId },
          ...{ traceId, observationId: observationId ?? null, createdAt: at, updatedAt: at },
        },
      };
    },
  });
}

/** The experiment of a run: nothing happens between the look and the creation. */
function experimentOf(
  { datasets, experiments }: LangfuseRunItems,
  by: Principal,
  dataset: Dataset,
  { runName: name, runDescription, metadata, datasetVersion }: CreateRunItem,
): Experiment {
  const known = experiments.named(by.project_id, dataset.id, name);
  const description = runDescription ?? null;
  if (known === undefined)
    return experiments.create(by, {
      ...{ name, dataset: dataset.id, description },
      ...(datasetVersion != null && { dataset_version: numberAt(datasets, dataset, datasetVersion) }),
      parameters: parametersOf(metadata),
    });
  if (description === null || description === known.description) return known;
  return experiments.change(by.project_id, known.id, { description });
}

function numberAt(datasets: LangfuseRunItems['datasets'], dataset: Dataset, at: string): number {
  const time = parseTimestamp(at);
  if (time === undefined) throw invalid([{ pointer: '/datasetVersion', detail: 'must be an ISO 8601 time' }]);
  return datasets.versionAt(dataset, time).number;
}

function parametersOf(metadata: unknown): Record<string, unknown> | null {
  if (metadata === null || metadata === undefined) return null;
  return isJsonObject(metadata) ? { ...metadata } : { metadata };
}

const ListQuery = Type.Object({
  datasetId: uuid('Id of the dataset.'),
  runName,
  ...pageParameters('items', 10_000),
});

const RunItemPage = Type.Object(
  { data: Type.Array(RunItemRead, { description: 'A page of items, by the id of the dataset item.' }), meta: PageMeta },
  { $id: 'LangfuseRunItems', description: 'A page of items of a run.' },
);

function listRoute({ datasets, experiments }: LangfuseRunItems) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/dataset-run-items',
    operationId: 'listLangfuseRunItems',
    scopes: ['datasets:read'],
    summary: 'List items of a run (Langfuse)',
    description: 'Lists the results of the experiment on the dataset with the name of the run.',
    tag: TAG,
    access: 'key',
    bulk: true,
    query: queryOf(ListQuery),
    responses: { 200: { description: 'The items.', schema: RunItemPage } },
    errors: ['not_found', 'unavailable'],
    renderError,
    async handle({ principal: { project_id }, query: { datasetId, runName: name, page, limit }, signal }) {
      const { id } = datasets.find(project_id, datasetId.toLowerCase());
      const run = runNamed(experiments, project_id, id, name);
      const window = { limit, offset: (page - 1) * limit };
      const read = await experiments.results(project_id, { ...idsOf(run), ...window, count: true }, signal);
      const data = read.results.map((result) => toRunItemRead(run, result));
      return { status: 200, body: { data, meta: metaOf({ page, limit }, read.total ?? 0) } };
    },
  });
}

/** Which results of a run are meant: all, without their texts. */
export const idsOf = ({ id }: Experiment) =>
  ({ experimentId: id, repetition: null, rowIds: null, hasError: null, idsOnly: true }) as const;

/** @throws DomainError `not_found` */
export function runNamed(
  experiments: Pick<ExperimentService, 'named'>,
  projectId: string,
  datasetId: string,
  name: string,
): Experiment {
  const found = experiments.named(projectId, datasetId, name);
  if (found === undefined) throw new DomainError('not_found', 'The dataset has no run with this name');
  return found;
}
