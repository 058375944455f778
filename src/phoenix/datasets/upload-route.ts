import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { count, uuid } from '../../engine/schema/parts.js';
import type { Dataset, Role } from '../../features/datasets/dataset.js';
import { partsOf } from '../../features/datasets/row-parts.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody, type BodyDefinition } from '../../http/route.js';
import { BASE, TAG } from '../tag.js';
import type { PhoenixDatasets } from './dataset-routes.js';
import { sentAsForm, sentAsJson, UploadInput, type Sent } from './upload.js';

const FORM = 'multipart/form-data';
const json = jsonBody(UploadInput, { lenient: true });

/** Examples as JSON, or a table in a form. */
const uploadBody: BodyDefinition<UploadInput | Buffer, UploadInput> = {
  contentTypes: [...json.contentTypes, FORM],
  schema: UploadInput,
  lenient: true,
  decode: (bytes, mediaType, unknown) => (mediaType === FORM ? bytes : json.decode(bytes, mediaType, unknown)),
};

const Uploaded = Type.Object(
  {
    data: Type.Object(
      {
        dataset_id: uuid('Id of the dataset.'),
        version_id: uuid('Id of the version that has the examples.'),
        num_created_examples: count('Examples that the version before does not have.'),
        num_updated_examples: count('Examples that say something else in the version before.'),
        num_deleted_examples: count('Examples of the version before that are gone.'),
      },
      { description: 'What became of the examples.' },
    ),
  },
  { $id: 'PhoenixUploaded', description: 'Examples that are stored.' },
);

/** Examples, as clients of Phoenix send them: each upload is a version. */
export function uploadRoute(datasets: PhoenixDatasets) {
  return defineRoute({
    method: 'POST',
    path: `${BASE}/v1/datasets/upload`,
    operationId: 'uploadPhoenixDataset',
    scopes: ['datasets:write'],
    summary: 'Upload examples (Phoenix)',
    description:
      'Stores examples as the next version of a dataset, which is created if there is none. A version that would equal the newest one is ' +
      'not made. A table is CSV in a form, also compressed by gzip.',
    tag: TAG,
    access: 'key',
    query: queryOf(
      Type.Object({
        sync: Type.Optional(Type.Boolean({ description: 'Without effect: the response waits until all is stored.' })),
      }),
    ),
    body: uploadBody,
    responses: { 200: { description: 'The examples are stored.', schema: Uploaded } },
    errors: ['malformed', 'conflict', 'too_large', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal, body }) {
      const sent = await (Buffer.isBuffer(body) ? sentAsForm(body) : sentAsJson(body));
      return { status: 200, body: { data: await stored(datasets, principal, sent) } };
    },
  });
}

async function stored(datasets: PhoenixDatasets, by: Principal, sent: Sent): Promise<Static<typeof Uploaded>['data']> {
  const dataset = datasetFor(datasets, by, sent);
  const version = await datasets.upload(by, dataset.id, sent.upload);
  const isNew = version.number > dataset.last_version;
  return {
    ...{ dataset_id: dataset.id, version_id: version.id },
    num_created_examples: isNew ? version.added : 0,
    num_updated_examples: isNew ? version.changed : 0,
    num_deleted_examples: isNew ? version.removed : 0,
  };
}

/** @throws DomainError `conflict` where a dataset is to be created that there is already */
function datasetFor(datasets: PhoenixDatasets, by: Principal, { action, name, description, roles }: Sent): Dataset {
  const known = datasets.lookUp(by.project_id, name);
  if (known === undefined) return datasets.create(by, { name, description: description ?? '', roles: { ...roles } });
  if (action === 'create')
    throw new DomainError('conflict', `There is a dataset named ${JSON.stringify(name)} already`);
  const all = { ...rolesBefore(datasets, known), ...roles };
  const isNew = Object.entries(all).some(([column, role]) => known.roles[column] !== role);
  const describes = description !== null && description !== '' && description !== known.description;
  if (!isNew && !describes) return known;
  return datasets.change(by, known.id, { ...(isNew && { roles: all }), ...(describes && { description }) });
}

/** Where no column has a role, columns are read by their names: they stay what they are beside others. */
function rolesBefore(datasets: PhoenixDatasets, dataset: Dataset): Readonly<Record<string, Role>> {
  if (Object.keys(dataset.roles).length > 0) return dataset.roles;
  const columns = datasets.newest(dataset)?.columns ?? [];
  const { input, expected } = partsOf(Object.fromEntries(columns.map((column) => [column, null])), {});
  return Object.fromEntries([
    ...Object.keys(input).map((column) => [column, 'input']),
    ...Object.keys(expected).map((column) => [column, 'expected']),
  ]) as Record<string, Role>;
}
