import { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import { oneOf } from '../../../engine/schema/parts.js';
import { withTurns } from '../../../engine/work/portions.js';
import { page } from '../../../http/page.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute } from '../../../http/route.js';
import type { DatasetService } from '../dataset-service.js';
import { DOWNLOAD_FORMATS, flatRow, MEDIA_TYPES, type DatasetDownloads } from '../downloads.js';
import { FlatPage, RowPage } from '../schema.js';
import { DatasetParams, refParameter, TAG, VersionParams } from './parameters.js';
import { structuredRow, toVersionRead } from './presenters.js';

/** Rows of datasets, page by page or as files. */
export function dataRoutes(datasets: DatasetService, downloads: DatasetDownloads) {
  return [getRowsRoute(datasets), getDataRoute(datasets), downloadRoute(datasets, downloads)];
}

const PAGE = page({ maxLimit: 10_000, defaultLimit: 100 });
/** Clients ask for the only part of a version by its name. */
const subset = Type.Optional(oneOf(['default'], 'The only part of a version that there is.'));

const RowsQuery = Type.Object({
  ref: Type.Optional(refParameter),
  version_number: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The same as `ref`, for clients that call it so.' }),
  ),
  subset,
  ...PAGE,
});

function getRowsRoute(datasets: DatasetService) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets/:name+/data',
    operationId: 'getDatasetRows',
    summary: 'Get rows of a dataset',
    description:
      'Returns a page of rows of a version, by default of the newest, each with its id and where it comes from.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: DatasetParams,
    query: queryOf(RowsQuery),
    responses: { 200: { description: 'The rows.', schema: RowPage } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params, query: { ref, version_number, limit, offset } }) {
      const dataset = datasets.find(principal.project_id, params.name);
      const version = datasets.version(dataset, ref ?? String(version_number ?? 'latest'));
      const { rows, total } = datasets.rows(version, { limit, offset });
      const tail = JSON.stringify({ total_rows: total, totalRows: total, version: toVersionRead(version) });
      return { status: 200, json: `{"rows":[${rows.map(structuredRow).join(',')}],${tail.slice(1)}` };
    },
  });
}

function getDataRoute(datasets: DatasetService) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets/:name+/data/:ref',
    operationId: 'getDatasetData',
    summary: 'Get the data of a version',
    description: 'Returns a page of rows of a version as plain objects, with the id of each as `row_id`.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: VersionParams,
    query: queryOf(Type.Object({ subset, ...PAGE })),
    responses: { 200: { description: 'The rows.', schema: FlatPage } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params: { name, ref }, query: { limit, offset } }) {
      const version = datasets.version(datasets.find(principal.project_id, name), ref);
      const { rows, total } = datasets.rows(version, { limit, offset });
      return { status: 200, json: `{"rows":[${rows.map(flatRow).join(',')}],"total_rows":${total}}` };
    },
  });
}

const DownloadQuery = Type.Object({
  ref: Type.Optional(refParameter),
  format: oneOf(DOWNLOAD_FORMATS, 'The format of the file.', 'jsonl'),
});

function downloadRoute(datasets: DatasetService, downloads: DatasetDownloads) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets/:name+/download',
    operationId: 'downloadDataset',
    summary: 'Download a version of a dataset',
    description:
      'Returns all rows of a version, by default of the newest, as a file: JSON lines, a JSON array, CSV or Parquet. The id of a row is ' +
      'in the column `row_id`, so that the file can be edited and uploaded again. CSV has texts as they are, and other values as JSON.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: DatasetParams,
    query: queryOf(DownloadQuery),
    responses: {
      200: {
        description: 'The file.',
        schema: Type.String({ format: 'binary' }),
        contentType: 'application/octet-stream',
      },
    },
    errors: ['not_found', 'too_large', 'unavailable'],
    async handle({ principal, params, query: { ref = 'latest', format } }) {
      const { project_id: projectId } = principal;
      const dataset = datasets.find(projectId, params.name);
      const version = datasets.version(dataset, ref);
      const file = `${dataset.name.replaceAll(/[^A-Za-z0-9._-]/g, '_')}-v${version.number}.${format}`;
      const headers = { 'Content-Disposition': `attachment; filename="${file}"` };
      const contentType = MEDIA_TYPES[format];
      if (format === 'parquet')
        return { status: 200, contentType, headers, content: await downloads.parquet(projectId, version) };
      const stream = Readable.from(withTurns(downloads.text(projectId, version, format)), { objectMode: false });
      return { status: 200, contentType, headers, stream };
    },
  });
}
