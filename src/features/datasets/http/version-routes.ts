import { Type } from '@sinclair/typebox';
import { page } from '../../../http/page.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, listOf, type BodyDefinition } from '../../../http/route.js';
import type { DatasetService, Upload } from '../dataset-service.js';
import {
  DiffRead,
  ListedVersionRead,
  messageParameter,
  modeParameter,
  UPLOAD_TYPES,
  UploadInput,
  VersionRead,
  type UploadFormat,
} from '../schema.js';
import { DatasetParams, refParameter, TAG } from './parameters.js';
import { toVersionRead } from './presenters.js';

/** Versions of datasets, how they come to be and differ. */
export function versionRoutes(datasets: DatasetService) {
  return [
    uploadRoute(datasets, {
      path: '/v1/datasets/:name+/versions',
      operationId: 'createDatasetVersion',
      summary: 'Create a version of a dataset',
    }),
    uploadRoute(datasets, {
      path: '/v1/datasets/:name+/data',
      operationId: 'postDatasetData',
      summary: 'Create a version of a dataset (older path)',
    }),
    listVersionsRoute(datasets),
    diffRoute(datasets),
  ];
}

type SentUpload = Pick<Upload, 'format' | 'bytes'>;

/** Bytes of rows in any format, which a thread reads. */
const uploadBody: BodyDefinition<SentUpload, UploadInput> = {
  contentTypes: Object.keys(UPLOAD_TYPES),
  schema: UploadInput,
  lenient: true,
  decode: (bytes, mediaType) => ({
    bytes,
    format: (UPLOAD_TYPES as Readonly<Record<string, UploadFormat>>)[mediaType] ?? 'json',
  }),
};

interface UploadPath {
  readonly path: '/v1/datasets/:name+/versions' | '/v1/datasets/:name+/data';
  readonly operationId: string;
  readonly summary: string;
}

function uploadRoute(datasets: DatasetService, { path, operationId, summary }: UploadPath) {
  return defineRoute({
    method: 'POST',
    path,
    operationId,
    summary,
    description:
      'Stores rows as the next version: as JSON, or as a file of JSON lines, CSV (whose first line has the names of the columns) or ' +
      'Parquet. A version that would equal the newest one is not made: the newest one is returned, so a retry changes nothing. ' +
      'All rows are stored or none.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    query: queryOf(Type.Object({ mode: modeParameter, message: messageParameter })),
    body: uploadBody,
    responses: { 200: { description: 'The version.', schema: VersionRead } },
    errors: ['malformed', 'not_found', 'conflict', 'too_large', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal, params, query: { mode, message = '' }, body }) {
      const version = await datasets.upload(principal, params.name, { ...body, mode, message });
      return { status: 200, body: toVersionRead(version) };
    },
  });
}

function listVersionsRoute(datasets: DatasetService) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets/:name+/versions',
    operationId: 'listDatasetVersions',
    summary: 'List versions of a dataset',
    description: 'Lists versions, newest first.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    bulk: true,
    query: queryOf(Type.Object(page({ maxLimit: 200, defaultLimit: 100 }))),
    responses: { 200: listOf(ListedVersionRead, 'The versions.') },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params, query }) => ({
      status: 200,
      body: datasets
        .versions(principal.project_id, params.name, query)
        .map(({ created_by_name, ...version }) => ({ ...toVersionRead(version), created_by_name })),
    }),
  });
}

const DiffQuery = Type.Object({
  from: refParameter,
  to: Type.Optional(Type.String({ ...refParameter, description: 'A version, as `from`. Default: the newest.' })),
  ...page({ maxLimit: 1_000, defaultLimit: 100 }),
});

function diffRoute(datasets: DatasetService) {
  return defineRoute({
    method: 'GET',
    path: '/v1/datasets/:name+/diff',
    operationId: 'diffDatasetVersions',
    summary: 'Compare versions of a dataset',
    description: 'Returns which rows were added, changed and removed from one version to another.',
    tag: TAG,
    access: 'key',
    params: DatasetParams,
    query: queryOf(DiffQuery),
    responses: { 200: { description: 'How they differ.', schema: DiffRead } },
    errors: ['not_found', 'unavailable'],
    bulk: true,
    async handle({ principal, params, query: { from, to = 'latest', ...window }, signal }) {
      const dataset = datasets.find(principal.project_id, params.name);
      const numbers = [from, to].map((ref) => datasets.version(dataset, ref).number) as [number, number];
      const [first, last] = numbers;
      const { counts, rows } = await datasets.diff(dataset, { from: first, to: last }, window, signal);
      const head = JSON.stringify({ from: first, to: last, ...counts });
      const changes = rows.map(
        ({ row_id, change, before, after }) =>
          `{"row_id":${JSON.stringify(row_id)},"change":"${change}","before":${before ?? 'null'},"after":${after ?? 'null'}}`,
      );
      return { status: 200, json: `${head.slice(0, -1)},"rows":[${changes.join(',')}]}` };
    },
  });
}
