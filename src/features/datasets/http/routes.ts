import { Type } from '@sinclair/typebox';
import { page } from '../../../http/page.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import type { DatasetPatch } from '../dataset.js';
import type { DatasetService } from '../dataset-service.js';
import type { RowFiles } from '../../images/row-files.js';
import type { SpanRows } from '../span-rows.js';
import { DatasetInput, DatasetPatchInput, DatasetRead } from '../schema.js';
import type { DatasetDownloads } from '../downloads.js';
import { dataRoutes } from './data-routes.js';
import { fileRoute } from './file-route.js';
import { DatasetParams, TAG } from './parameters.js';
import { toDatasetRead } from './presenters.js';
import { eraseRowRoute, type EraseRow } from './row-routes.js';
import { addSpanRowsRoute } from './span-rows-route.js';
import { tagRoutes } from './tag-routes.js';
import { versionRoutes } from './version-routes.js';

export interface DatasetServices {
  readonly datasets: DatasetService;
  readonly datasetDownloads: DatasetDownloads;
  readonly spanRows: SpanRows;
  readonly rowFiles: Pick<RowFiles, 'open'>;
  readonly deletions: { readonly eraseRow: EraseRow };
}

/** Datasets, their versions, rows and tags. */
export function datasetRoutes({ datasets, datasetDownloads, spanRows, rowFiles, deletions }: DatasetServices) {
  return [
    createDatasetRoute(datasets),
    listDatasetsRoute(datasets),
    ...versionRoutes(datasets),
    ...dataRoutes(datasets, datasetDownloads),
    fileRoute({ datasets, rowFiles }),
    addSpanRowsRoute(spanRows),
    eraseRowRoute(datasets, (...given) => deletions.eraseRow(...given)),
    ...tagRoutes(datasets.tags),
    getDatasetRoute(datasets),
    updateDatasetRoute(datasets),
    deleteDatasetRoute(datasets),
  ];
}

function createDatasetRoute(datasets: DatasetService) {
  return defineRoute({
    method: 'POST',
    path: '/v1/datasets',
    operationId: 'createDataset',
    summary: 'Create a dataset',
    description: 'Creates a dataset without rows. Returns 409 if there is one with this name.',
    tag: TAG,
    access: 'key',
    body: jsonBody(DatasetInput, { lenient: true }),
    responses: { 201: { description: 'The dataset.', schema: DatasetRead } },
    errors: ['invalid', 'conflict', 'unavailable'],
    handle: ({ principal, body }) => ({ status: 201, body: toDatasetRead(datasets.create(principal, body), null) }),
  });
}

const ListQuery = Type.Object({
  q: Type.String({ maxLength: 200, default: '', description: 'Text that the name contains, whatever its case.' }),
  ...page({ maxLimit: 200, defaultLimit: 100 }),
});

function listDatasetsRoute(datasets: DatasetService) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets',
    operationId: 'listDatasets',
    summary: 'List datasets',
    description: "Lists datasets of the key's project by name, with the newest version of each.",
    tag: TAG,
    access: 'key',
    bulk: true,
    query: queryOf(ListQuery),
    responses: {
      200: {
        ...listOf(DatasetRead, 'The datasets.'),
        headers: { 'X-Total-Count': 'Number of all matches.' },
      },
    },
    errors: ['unavailable'],
    handle({ principal, query: { q, ...window } }) {
      const { datasets: found, total } = datasets.list(principal.project_id, q, window);
      const body = found.map((dataset) => toDatasetRead(dataset, datasets.newest(dataset)));
      return { status: 200, body, headers: { 'X-Total-Count': String(total) } };
    },
  });
}

function getDatasetRoute(datasets: DatasetService) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets/:name+',
    operationId: 'getDataset',
    summary: 'Get a dataset',
    description: 'Returns a dataset by its name or id, with its newest version.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    responses: { 200: { description: 'The dataset.', schema: DatasetRead } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      const dataset = datasets.find(principal.project_id, params.name);
      return { status: 200, body: toDatasetRead(dataset, datasets.newest(dataset)) };
    },
  });
}

function updateDatasetRoute(datasets: DatasetService) {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/datasets/:name+',
    operationId: 'updateDataset',
    summary: 'Update a dataset',
    description: 'Renames a dataset, or changes what it and its columns are for. Its versions do not change.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    body: jsonBody(DatasetPatchInput),
    responses: { 200: { description: 'The dataset.', schema: DatasetRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params, body }) {
      const given = Object.entries(body).filter(([, value]) => value !== null);
      const patch = Object.fromEntries(given) as DatasetPatch;
      const dataset = datasets.change(principal, params.name, patch);
      return { status: 200, body: toDatasetRead(dataset, datasets.newest(dataset)) };
    },
  });
}

function deleteDatasetRoute(datasets: DatasetService) {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/datasets/:name+',
    operationId: 'deleteDataset',
    summary: 'Delete a dataset',
    description: 'Deletes a dataset with all its versions and tags.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    responses: { 204: { description: 'The dataset is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      datasets.remove(principal, params.name);
      return { status: 204 };
    },
  });
}
