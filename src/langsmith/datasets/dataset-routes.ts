import { Type, type Static } from '@sinclair/typebox';
import { optional } from '../../engine/schema/inputs.js';
import { count, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import type { Dataset, Role } from '../../features/datasets/dataset.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import { DatasetName, Description } from '../../features/datasets/schema.js';
import { page } from '../../http/page.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { BASE, TAG } from '../tag.js';

export type LangsmithDatasets = Pick<
  DatasetService,
  | 'create'
  | 'find'
  | 'lookUp'
  | 'list'
  | 'change'
  | 'remove'
  | 'newest'
  | 'version'
  | 'versions'
  | 'rows'
  | 'allRows'
  | 'namedRows'
  | 'rowSizes'
  | 'holding'
  | 'upload'
>;

/** What clients of LangSmith say of an example, as columns. */
export const ROLES: Readonly<Record<string, Role>> = {
  inputs: 'input',
  outputs: 'expected',
  metadata: 'metadata',
  split: 'split',
};

const DatasetRead = Type.Object(
  {
    id: uuid('Id of the dataset.'),
    name: Type.String({ description: 'Name of the dataset.' }),
    description: Type.String({ description: 'What the dataset is.' }),
    tenant_id: uuid('Id of the project.'),
    data_type: Type.String({ description: 'Always `kv`.' }),
    example_count: count('Rows of the newest version.'),
    created_at: time('When it was created.'),
    modified_at: time('When it was last changed, or got its newest version.'),
    metadata: Type.Record(Type.String(), Type.Unknown(), { description: 'Empty.' }),
  },
  { $id: 'LangsmithDataset', description: 'A dataset, as clients of LangSmith read it.' },
);

const DatasetCreate = Type.Object(
  {
    name: DatasetName,
    description: optional(Description),
    data_type: optional(Type.String({ description: 'Ignored.' })),
    extra: optional(Type.Unknown({ description: 'Ignored.' })),
  },
  { $id: 'LangsmithDatasetInput', description: 'A new dataset, as clients of LangSmith send it.' },
);
const DatasetChange = Type.Object(
  { name: optional(DatasetName), description: optional(Description) },
  { $id: 'LangsmithDatasetPatch', description: 'What to change; absent fields stay.' },
);

export function toDatasetRead(
  datasets: Pick<DatasetService, 'newest'>,
  projectId: string,
  dataset: Dataset,
): Static<typeof DatasetRead> {
  return {
    ...{ id: dataset.id, name: dataset.name, description: dataset.description, tenant_id: projectId },
    ...{ data_type: 'kv', example_count: datasets.newest(dataset)?.row_count ?? 0, metadata: {} },
    created_at: formatTimestamp(dataset.created_at),
    modified_at: formatTimestamp(dataset.updated_at),
  };
}

/** Datasets, as clients of LangSmith make and read them. */
export function datasetRoutes(datasets: LangsmithDatasets) {
  return [createRoute(datasets), listRoute(datasets), getRoute(datasets), changeRoute(datasets), deleteRoute(datasets)];
}

function createRoute(datasets: LangsmithDatasets) {
  return defineRoute({
    method: 'POST',
    path: `${BASE}/datasets`,
    operationId: 'createLangsmithDataset',
    scopes: ['datasets:write'],
    summary: 'Create a dataset (LangSmith)',
    description: 'Creates a dataset with the columns `inputs`, `outputs`, `metadata` and `split`.',
    tag: TAG,
    access: 'key',
    body: jsonBody(DatasetCreate, { lenient: true }),
    responses: { 200: { description: 'The dataset.', schema: DatasetRead } },
    errors: ['conflict', 'unavailable'],
    handle({ principal, body: { name, description } }) {
      const made = datasets.create(principal, { name, description: description ?? null, roles: { ...ROLES } });
      return { status: 200, body: toDatasetRead(datasets, principal.project_id, made) };
    },
  });
}

const ListQuery = queryOf(
  Type.Object({
    name: Type.Optional(Type.String({ maxLength: 200, description: 'Only the dataset with this name.' })),
    name_contains: Type.Optional(
      Type.String({ maxLength: 200, description: 'Only datasets whose name contains this.' }),
    ),
    id: Type.Optional(csv(uuid('Id of a dataset.'), { maxItems: 100, description: 'Only these datasets.' })),
    data_type: Type.Optional(Type.String({ description: 'Without effect.' })),
    metadata: Type.Optional(Type.String({ description: 'Without effect.' })),
    ...page({ maxLimit: 100, defaultLimit: 100 }),
  }),
);

function listRoute(datasets: LangsmithDatasets) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/datasets`,
    operationId: 'listLangsmithDatasets',
    scopes: ['datasets:read'],
    summary: 'List datasets (LangSmith)',
    description: 'Lists datasets by name.',
    tag: TAG,
    access: 'key',
    query: ListQuery,
    responses: { 200: { description: 'The datasets.', schema: Type.Array(DatasetRead) } },
    errors: ['unavailable'],
    handle({ principal: { project_id }, query: { name, name_contains, id, limit, offset } }) {
      const named = name === undefined ? id : [name];
      const found =
        named === undefined
          ? datasets.list(project_id, name_contains ?? '', { limit, offset }).datasets
          : named.slice(offset, offset + limit).flatMap((each) => datasets.lookUp(project_id, each) ?? []);
      return { status: 200, body: found.map((dataset) => toDatasetRead(datasets, project_id, dataset)) };
    },
  });
}

const Params = Type.Object({ dataset_id: uuid('Id of the dataset.') });
const one = { tag: TAG, access: 'key', params: Params } as const;

function getRoute(datasets: LangsmithDatasets) {
  return defineRoute({
    ...one,
    method: 'GET',
    path: `${BASE}/datasets/:dataset_id`,
    operationId: 'getLangsmithDataset',
    scopes: ['datasets:read'],
    summary: 'Get a dataset (LangSmith)',
    description: 'Returns a dataset without its rows.',
    query: queryOf(Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, description: 'Without effect.' })) })),
    responses: { 200: { description: 'The dataset.', schema: DatasetRead } },
    errors: ['not_found', 'unavailable'],
    handle({ principal: { project_id }, params }) {
      const found = datasets.find(project_id, params.dataset_id);
      return { status: 200, body: toDatasetRead(datasets, project_id, found) };
    },
  });
}

function changeRoute(datasets: LangsmithDatasets) {
  return defineRoute({
    ...one,
    method: 'PATCH',
    path: `${BASE}/datasets/:dataset_id`,
    operationId: 'updateLangsmithDataset',
    scopes: ['datasets:write'],
    summary: 'Change a dataset (LangSmith)',
    description: 'Changes name and description; absent fields stay.',
    body: jsonBody(DatasetChange, { lenient: true }),
    responses: { 200: { description: 'The dataset.', schema: DatasetRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params, body: { name, description } }) {
      const { project_id } = principal;
      const patch = { ...(name != null && { name }), ...(description != null && { description }) };
      const changed = datasets.change(principal, params.dataset_id, patch);
      return { status: 200, body: toDatasetRead(datasets, project_id, changed) };
    },
  });
}

function deleteRoute(datasets: LangsmithDatasets) {
  return defineRoute({
    ...one,
    method: 'DELETE',
    path: `${BASE}/datasets/:dataset_id`,
    operationId: 'deleteLangsmithDataset',
    scopes: ['datasets:write'],
    summary: 'Delete a dataset (LangSmith)',
    description: 'Deletes a dataset with all its versions.',
    responses: { 204: { description: 'The dataset is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      datasets.remove(principal, params.dataset_id);
      return { status: 204 };
    },
  });
}
