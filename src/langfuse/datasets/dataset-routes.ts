import { Type, type Static } from '@sinclair/typebox';
import type { Principal } from '../../engine/identity/identity.js';
import { optional } from '../../engine/schema/inputs.js';
import { orNull, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import type { Dataset } from '../../features/datasets/dataset.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import { DatasetName, Description } from '../../features/datasets/schema.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { renderError } from '../errors.js';
import { metaOf, PageMeta, pageParameters } from '../page.js';
import { TAG } from '../tag.js';
import { ITEM_ROLES } from './items.js';
import { DatasetParams, nameOf } from './names.js';

const noSchema = Type.Optional(
  Type.Null({ description: 'Not supported: Spanhouse does not check items by a schema.' }),
);

const CreateDataset = Type.Object(
  {
    name: DatasetName,
    description: optional(Description),
    metadata: optional(Type.Unknown({ description: 'Ignored.' })),
    inputSchema: noSchema,
    expectedOutputSchema: noSchema,
  },
  { $id: 'LangfuseCreateDataset', description: 'A dataset, as clients of Langfuse send it.' },
);

const DatasetRead = Type.Object(
  {
    id: uuid('Id of the dataset.'),
    name: Type.String({ description: 'Name of the dataset.' }),
    description: orNull(Type.String({ description: 'What the dataset is.' })),
    metadata: Type.Null({ description: 'Always null.' }),
    inputSchema: Type.Null({ description: 'Always null.' }),
    expectedOutputSchema: Type.Null({ description: 'Always null.' }),
    projectId: uuid('Id of the project.'),
    createdAt: time('When it was created.'),
    updatedAt: time('When it was last changed, or got its newest version.'),
  },
  { $id: 'LangfuseDataset', description: 'A dataset, as clients of Langfuse read it.' },
);

const DatasetPage = Type.Object(
  { data: Type.Array(DatasetRead, { description: 'A page of datasets, by name.' }), meta: PageMeta },
  { $id: 'LangfuseDatasets', description: 'A page of datasets.' },
);

const ListQuery = Type.Object(pageParameters('datasets', 1_000));

export type LangfuseDatasets = Pick<DatasetService, 'find' | 'lookUp' | 'create' | 'change' | 'list'>;

/** Datasets, as clients of Langfuse create and find them. */
export function langfuseDatasetRoutes(datasets: LangfuseDatasets) {
  return [
    createRoute(datasets, '/api/public/v2/datasets', 'createLangfuseDataset'),
    createRoute(datasets, '/api/public/datasets', 'createLangfuseDatasetOfOldClient'),
    listRoute(datasets),
    getRoute(datasets),
  ];
}

function createRoute(datasets: LangfuseDatasets, path: string, operationId: string) {
  return defineRoute({
    method: 'POST',
    path,
    operationId,
    scopes: ['datasets:write'],
    summary: 'Create a dataset (Langfuse)',
    description:
      'Creates a dataset. If there is one with this name, returns it, with the new description if there is one.',
    tag: TAG,
    access: 'key',
    body: jsonBody(CreateDataset, { lenient: true }),
    responses: { 200: { description: 'The dataset.', schema: DatasetRead } },
    errors: ['conflict', 'unavailable'],
    renderError,
    handle({ principal, body }) {
      return { status: 200, body: toDatasetRead(principal.project_id, createdOrFound(datasets, principal, body)) };
    },
  });
}

function createdOrFound(datasets: LangfuseDatasets, by: Principal, input: Static<typeof CreateDataset>): Dataset {
  const { name, description } = input;
  const known = datasets.lookUp(by.project_id, name);
  if (known === undefined) return datasets.create(by, { name, description: description ?? '', roles: ITEM_ROLES });
  if (description == null || description === known.description) return known;
  return datasets.change(by, known.id, { description });
}

function listRoute(datasets: LangfuseDatasets) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/v2/datasets',
    operationId: 'listLangfuseDatasets',
    scopes: ['datasets:read'],
    summary: 'List datasets (Langfuse)',
    description: 'Lists the datasets of the project by name.',
    tag: TAG,
    access: 'key',
    query: queryOf(ListQuery),
    responses: { 200: { description: 'The datasets.', schema: DatasetPage } },
    errors: ['unavailable'],
    renderError,
    handle({ principal: { project_id }, query: { page, limit } }) {
      const { datasets: found, total } = datasets.list(project_id, '', { limit, offset: (page - 1) * limit });
      const data = found.map((dataset) => toDatasetRead(project_id, dataset));
      return { status: 200, body: { data, meta: metaOf({ page, limit }, total) } };
    },
  });
}

function getRoute(datasets: LangfuseDatasets) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/v2/datasets/:dataset_name+',
    operationId: 'getLangfuseDataset',
    scopes: ['datasets:read'],
    summary: 'Get a dataset (Langfuse)',
    description: 'Returns a dataset by its name, without its items.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    responses: { 200: { description: 'The dataset.', schema: DatasetRead } },
    errors: ['not_found', 'unavailable'],
    renderError,
    handle({ principal: { project_id }, params: { dataset_name } }) {
      return { status: 200, body: toDatasetRead(project_id, datasets.find(project_id, nameOf(dataset_name))) };
    },
  });
}

function toDatasetRead(projectId: string, dataset: Dataset): Static<typeof DatasetRead> {
  const { id, name, description, created_at, updated_at } = dataset;
  return {
    ...{ id, name, projectId, description: description === '' ? null : description },
    ...{ metadata: null, inputSchema: null, expectedOutputSchema: null },
    createdAt: formatTimestamp(created_at),
    updatedAt: formatTimestamp(updated_at),
  };
}
