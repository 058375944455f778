import { Type } from '@sinclair/typebox';
import { count, time, uuid } from '../../engine/schema/parts.js';
import { formatTimestamp, parseTimestampText } from '../../engine/timestamp.js';
import { invalid } from '../../engine/validation/validation.js';
import type { Dataset, DatasetVersion } from '../../features/datasets/dataset.js';
import type { RowFiles } from '../../features/images/row-files.js';
import { page } from '../../http/page.js';
import { csv } from '../../http/parameter.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, type BodyDefinition } from '../../http/route.js';
import { BASE, TAG } from '../tag.js';
import { MAX_FILES } from './attachments.js';
import type { LangsmithDatasets } from './dataset-routes.js';
import { findExample } from './example-finder.js';
import { foundAnywhere, namedPage, pageOf } from './example-pages.js';
import { change, idsOf, merge, withFiles } from './example-writes.js';
import { ExampleRead, readExamples, toExampleRead } from './examples.js';

/** Versions that are looked through for the one of a time. */
const VERSIONS_AT_ONCE = 1_000;
const MAX_MB = 20;

/** Rows of datasets, as clients of LangSmith make and read them. */
export function exampleRoutes(datasets: LangsmithDatasets, files: RowFiles) {
  return [
    writeRoute(datasets, files, 'POST'),
    writeRoute(datasets, files, 'PATCH'),
    listRoute(datasets, files),
    getRoute(datasets, files),
    deleteRoute(datasets),
  ];
}

const Written = Type.Object(
  {
    count: count('Examples that were sent.'),
    example_ids: Type.Array(uuid('Id of an example.'), { description: 'Their ids.' }),
    as_of: time('When the version was made that has them.'),
  },
  { $id: 'LangsmithExamplesWritten', description: 'Examples that are stored.' },
);

const formBody: BodyDefinition<Buffer> = {
  ...{ maxBytes: MAX_MB * 1024 * 1024, contentTypes: ['multipart/form-data'], lenient: true },
  schema: Type.String({
    format: 'binary',
    description: 'Examples, each with parts `<id>`, `<id>.inputs`, `<id>.outputs`, `<id>.attachment.<name>`.',
  }),
  decode: (bytes) => bytes,
};

function writeRoute<const M extends 'POST' | 'PATCH'>(datasets: LangsmithDatasets, files: RowFiles, method: M) {
  const isNew = method === 'POST';
  return defineRoute({
    method,
    path: `${BASE}/v1/platform/datasets/:dataset_id/examples`,
    operationId: isNew ? 'createLangsmithExamples' : 'updateLangsmithExamples',
    scopes: ['datasets:write'],
    summary: isNew ? 'Create examples (LangSmith)' : 'Change examples (LangSmith)',
    description: `${isNew ? 'Adds rows to the dataset' : 'Changes rows; absent fields stay'}, as one version. Up to ${MAX_MB} MB, with up to ${MAX_FILES} files.`,
    tag: TAG,
    access: 'key',
    params: Type.Object({ dataset_id: uuid('Id of the dataset.') }),
    body: formBody,
    responses: { [isNew ? 201 : 200]: { description: 'The examples are stored.', schema: Written } },
    errors: ['invalid', 'not_found', 'conflict', 'too_large', 'overloaded', 'unavailable'],
    async handle({ principal, params, body }) {
      const projectId = principal.project_id;
      const dataset = datasets.find(projectId, params.dataset_id);
      const sent = await readExamples(projectId, body);
      const sentFiles = sent.flatMap(({ id: rowId, files: own }) =>
        [...own.values()].map((file) => ({ datasetId: dataset.id, rowId, file })),
      );
      const write = () =>
        isNew
          ? merge(
              datasets,
              principal,
              dataset,
              sent.map((each) => withFiles(each, undefined)),
            )
          : change(datasets, principal, dataset, sent);
      const at = sent.length === 0 ? dataset.updated_at : (await files.during(projectId, sentFiles, write)).created_at;
      const ids = idsOf(sent);
      const answer = { count: ids.length, example_ids: ids, as_of: formatTimestamp(at) };
      return { status: isNew ? 201 : 200, json: JSON.stringify(answer) };
    },
  });
}

const text = (description: string) => Type.Optional(Type.String({ maxLength: 10_000, description }));
const ListQuery = queryOf(
  Type.Object({
    dataset: Type.Optional(uuid('Dataset of the examples. Required without `id`.')),
    id: Type.Optional(csv(uuid('Id of an example.'), { maxItems: 1_000, description: 'Only these examples.' })),
    as_of: text('Version of the dataset: a time, a tag or a number. Default: the newest.'),
    splits: Type.Optional(
      csv(Type.String({ description: 'A split.' }), {
        maxItems: 100,
        description: 'Only examples in one of these splits.',
      }),
    ),
    metadata: text('Only examples with this metadata: a JSON object.'),
    filter: Type.Optional(Type.String({ maxLength: 0, description: 'Not supported.' })),
    inline_s3_urls: Type.Optional(Type.Boolean({ description: 'Without effect.' })),
    select: Type.Optional(csv(Type.String({ description: 'A field.' }), { description: 'Without effect.' })),
    ...page({ maxLimit: 100, defaultLimit: 100 }),
  }),
);

function listRoute(datasets: LangsmithDatasets, files: RowFiles) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/examples`,
    operationId: 'listLangsmithExamples',
    scopes: ['datasets:read'],
    summary: 'List examples (LangSmith)',
    description: 'Lists rows of a dataset in their order.',
    tag: TAG,
    access: 'key',
    bulk: true,
    query: ListQuery,
    responses: { 200: { description: 'The examples.', schema: Type.Array(ExampleRead) } },
    errors: ['not_found', 'too_large', 'unavailable'],
    async handle({ principal: { project_id: projectId }, query }) {
      const { dataset: named, id: ids, limit, offset } = query;
      if (named === undefined) {
        if (ids === undefined) throw invalid([{ pointer: '?dataset', detail: 'is required, or id' }]);
        return {
          status: 200,
          body: await foundAnywhere(datasets, projectId, ids.slice(offset, offset + limit), files),
        };
      }
      const dataset = datasets.find(projectId, named);
      const version = versionAsOf(datasets, projectId, dataset, query.as_of);
      if (version === null) return { status: 200, body: [] };
      const row = { projectId, dataset, version };
      if (ids !== undefined) {
        return { status: 200, body: namedPage(datasets, row, { ids, limit, offset }, files) };
      }
      return { status: 200, body: await pageOf(datasets, row, query, files) };
    },
  });
}

/** A version by a tag or number, or the one that was the newest at a time; null: there was none. */
function versionAsOf(
  datasets: LangsmithDatasets,
  projectId: string,
  dataset: Dataset,
  asOf: string | undefined,
): DatasetVersion | null {
  if (asOf === undefined || asOf === 'latest') return datasets.newest(dataset);
  const at = asOf.includes('-') ? parseTimestampText(asOf) : undefined;
  if (at === undefined) return datasets.version(dataset, asOf);
  for (let offset = 0; ; offset += VERSIONS_AT_ONCE) {
    const portion = datasets.versions(projectId, dataset.id, { limit: VERSIONS_AT_ONCE, offset });
    const found = portion.find(({ created_at }) => created_at <= at);
    if (found !== undefined || portion.length < VERSIONS_AT_ONCE) return found ?? null;
  }
}

const Params = Type.Object({ example_id: uuid('Id of the example.') });

function getRoute(datasets: LangsmithDatasets, files: RowFiles) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/examples/:example_id`,
    operationId: 'getLangsmithExample',
    scopes: ['datasets:read'],
    summary: 'Get an example (LangSmith)',
    description: 'Returns a row of the newest version of any dataset.',
    tag: TAG,
    access: 'key',
    params: Params,
    query: queryOf(Type.Object({ as_of: text('Without effect.') })),
    responses: { 200: { description: 'The example.', schema: ExampleRead } },
    errors: ['not_found', 'unavailable'],
    handle({ principal: { project_id }, params: { example_id } }) {
      const { place, row } = findExample(datasets, project_id, example_id);
      return { status: 200, body: toExampleRead(place, row, files) };
    },
  });
}

function deleteRoute(datasets: LangsmithDatasets) {
  return defineRoute({
    method: 'DELETE',
    path: `${BASE}/examples/:example_id`,
    operationId: 'deleteLangsmithExample',
    scopes: ['datasets:write'],
    summary: 'Delete an example (LangSmith)',
    description: 'Makes a version of the dataset without this row; earlier versions keep it.',
    tag: TAG,
    access: 'key',
    params: Params,
    responses: { 204: { description: 'The newest version does not have it.' } },
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    async handle({ principal, params: { example_id } }) {
      const { place } = findExample(datasets, principal.project_id, example_id);
      await merge(datasets, principal, place.dataset, [], { remove: [example_id] });
      return { status: 204 };
    },
  });
}
