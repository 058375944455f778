import { Type, type Static } from '@sinclair/typebox';
import { count, orNull, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import type { Dataset } from '../../features/datasets/dataset.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import { queryOf } from '../../http/query.js';
import { defineRoute } from '../../http/route.js';
import { cursor, cursorBehind, limit, nextCursor, offsetAt } from '../cursor.js';
import { BASE, TAG } from '../tag.js';

export type PhoenixDatasets = Pick<
  DatasetService,
  'create' | 'find' | 'lookUp' | 'list' | 'change' | 'remove' | 'newest' | 'version' | 'versions' | 'allRows' | 'upload'
>;

const metadata = Type.Record(Type.String(), Type.Unknown(), { description: 'Empty.' });
const DatasetRead = Type.Object(
  {
    id: uuid('Id of the dataset.'),
    name: Type.String({ description: 'Name of the dataset.' }),
    description: orNull(Type.String({ description: 'What the dataset is.' })),
    metadata,
    created_at: time('When it was created.'),
    updated_at: time('When it was last changed, or got its newest version.'),
    example_count: count('Rows of the newest version.'),
  },
  { $id: 'PhoenixDataset', description: 'A dataset, as clients of Phoenix read it.' },
);

function toDatasetRead(datasets: Pick<DatasetService, 'newest'>, dataset: Dataset): Static<typeof DatasetRead> {
  const { id, name, description, created_at, updated_at } = dataset;
  return {
    ...{ id, name, description: description === '' ? null : description, metadata: {} },
    ...{ created_at: formatTimestamp(created_at), updated_at: formatTimestamp(updated_at) },
    example_count: datasets.newest(dataset)?.row_count ?? 0,
  };
}

/** Datasets and their versions, as clients of Phoenix read and delete them. */
export function datasetRoutes(datasets: PhoenixDatasets) {
  return [listRoute(datasets), getRoute(datasets), deleteRoute(datasets), listVersionsRoute(datasets)];
}

const DatasetPage = Type.Object(
  { data: Type.Array(DatasetRead, { description: 'A page of datasets, by name.' }), next_cursor: nextCursor },
  { $id: 'PhoenixDatasets', description: 'A page of datasets.' },
);

const ListQuery = queryOf(
  Type.Object({
    name: Type.Optional(Type.String({ maxLength: 200, description: 'Only the dataset with this name or id.' })),
    limit: limit('datasets'),
    cursor,
  }),
);

function listRoute(datasets: PhoenixDatasets) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/datasets`,
    operationId: 'listPhoenixDatasets',
    scopes: ['datasets:read'],
    summary: 'List datasets (Phoenix)',
    description: 'Lists datasets by name.',
    tag: TAG,
    access: 'key',
    bulk: true,
    query: ListQuery,
    responses: { 200: { description: 'The datasets.', schema: DatasetPage } },
    errors: ['unavailable'],
    handle({ principal: { project_id }, query: { name, limit: most, cursor: at } }) {
      const read = (found: readonly Dataset[]) => found.map((dataset) => toDatasetRead(datasets, dataset));
      if (name !== undefined) {
        const found = datasets.lookUp(project_id, name);
        return { status: 200, body: { data: read(found === undefined ? [] : [found]), next_cursor: null } };
      }
      const offset = offsetAt(at);
      const { datasets: found, total } = datasets.list(project_id, '', { limit: most, offset });
      const end = offset + found.length;
      return { status: 200, body: { data: read(found), next_cursor: cursorBehind(end, end >= total) } };
    },
  });
}

export const DatasetParams = Type.Object({ dataset_id: uuid('Id of the dataset.') });
const one = { tag: TAG, access: 'key', params: DatasetParams } as const;
export const versionId = Type.Optional(
  Type.String({ minLength: 1, maxLength: 64, description: 'Id of a version of the dataset. Default: the newest.' }),
);

function getRoute(datasets: PhoenixDatasets) {
  return defineRoute({
    ...one,
    method: 'GET',
    path: `${BASE}/v1/datasets/:dataset_id`,
    operationId: 'getPhoenixDataset',
    scopes: ['datasets:read'],
    summary: 'Get a dataset (Phoenix)',
    description: 'Returns a dataset without its examples.',
    query: queryOf(Type.Object({ version_id: Type.Optional(Type.String({ description: 'Without effect.' })) })),
    responses: {
      200: {
        description: 'The dataset.',
        schema: Type.Object({ data: DatasetRead }, { $id: 'PhoenixDatasetAnswer', description: 'A dataset.' }),
      },
    },
    errors: ['not_found', 'unavailable'],
    handle({ principal: { project_id }, params }) {
      const found = datasets.find(project_id, params.dataset_id);
      return { status: 200, body: { data: toDatasetRead(datasets, found) } };
    },
  });
}

function deleteRoute(datasets: PhoenixDatasets) {
  return defineRoute({
    ...one,
    method: 'DELETE',
    path: `${BASE}/v1/datasets/:dataset_id`,
    operationId: 'deletePhoenixDataset',
    scopes: ['datasets:write'],
    summary: 'Delete a dataset (Phoenix)',
    description: 'Deletes a dataset with all its versions.',
    responses: { 204: { description: 'The dataset is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      datasets.remove(principal, params.dataset_id);
      return { status: 204 };
    },
  });
}

const VersionRead = Type.Object(
  {
    version_id: uuid('Id of the version.'),
    description: orNull(Type.String({ description: 'Version note.' })),
    metadata,
    created_at: time('When it was made.'),
  },
  { $id: 'PhoenixDatasetVersion', description: 'A version of a dataset, as clients of Phoenix read it.' },
);

const VersionPage = Type.Object(
  { data: Type.Array(VersionRead, { description: 'A page of versions, newest first.' }), next_cursor: nextCursor },
  { $id: 'PhoenixDatasetVersions', description: 'A page of versions.' },
);

function listVersionsRoute(datasets: PhoenixDatasets) {
  return defineRoute({
    ...one,
    method: 'GET',
    path: `${BASE}/v1/datasets/:dataset_id/versions`,
    operationId: 'listPhoenixDatasetVersions',
    scopes: ['datasets:read'],
    summary: 'List versions of a dataset (Phoenix)',
    description: 'Lists versions, newest first.',
    bulk: true,
    query: queryOf(Type.Object({ limit: limit('versions'), cursor })),
    responses: { 200: { description: 'The versions.', schema: VersionPage } },
    errors: ['not_found', 'unavailable'],
    handle({ principal: { project_id }, params, query: { limit: most, cursor: at } }) {
      const offset = offsetAt(at);
      const found = datasets.versions(project_id, params.dataset_id, { limit: most, offset });
      const data = found.map(({ id, message, created_at }) => ({
        ...{ version_id: id, description: message === '' ? null : message, metadata: {} },
        created_at: formatTimestamp(created_at),
      }));
      return { status: 200, body: { data, next_cursor: cursorBehind(offset + most, found.length < most) } };
    },
  });
}
