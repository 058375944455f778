import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { Type } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import type { Principal } from '../../engine/identity/identity.js';
import { parseTimestamp } from '../../engine/timestamp.js';
import { invalid } from '../../engine/validation/validation.js';
import { withTurns } from '../../engine/work/portions.js';
import type { Dataset, DatasetVersion } from '../../features/datasets/dataset.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import { MAX_ROW_ID } from '../../features/datasets/files/row-set.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { renderError } from '../errors.js';
import { metaOf, PageMeta, pageParameters } from '../page.js';
import { TAG } from '../tag.js';
import { CreateItem, ItemRead, putOf, sourceOf, toItemRead } from './items.js';
import { datasetName, nameOf } from './names.js';

export interface LangfuseItems {
  readonly datasets: Pick<
    DatasetService,
    'find' | 'put' | 'upload' | 'holding' | 'newest' | 'versionAt' | 'rows' | 'namedRows' | 'origins'
  >;
  readonly deletions: {
    eraseRow(
      projectId: string,
      row: { readonly datasetId: string; readonly rowId: string; readonly by: Principal },
    ): Promise<boolean>;
  };
}

const MESSAGE = 'Items of a Langfuse client';

/** Items of datasets, as clients of Langfuse write and read them. */
export function langfuseItemRoutes({ datasets, deletions }: LangfuseItems) {
  return [postRoute(datasets), listRoute(datasets), getRoute(datasets), deleteRoute({ datasets, deletions })];
}

type Datasets = LangfuseItems['datasets'];

function postRoute(datasets: Datasets) {
  return defineRoute({
    method: 'POST',
    path: '/api/public/dataset-items',
    operationId: 'putLangfuseDatasetItem',
    scopes: ['datasets:write'],
    summary: 'Create or change an item of a dataset (Langfuse)',
    description:
      'Stores an item as a row of the next version. Items that are sent within 5 seconds share a version, unless the dataset is read in ' +
      'between.',
    tag: TAG,
    access: 'key',
    body: jsonBody(CreateItem, { lenient: true }),
    responses: { 200: { description: 'The item.', schema: ItemRead } },
    errors: ['not_found', 'conflict', 'too_large', 'overloaded', 'unavailable'],
    renderError,
    async handle({ principal, body }) {
      const { project_id: projectId } = principal;
      const id = body.id ?? randomUUID();
      const name = nameOf(body.datasetName);
      if (body.id != null) requireOwn(datasets.holding(projectId, id, 2), projectId, name);
      let row: Readonly<Record<string, unknown>> = {};
      const put = putOf(projectId, id, body, (said) => (row = said));
      const dataset = await datasets.put(principal, name, put, MESSAGE);
      const isArchived = body.status === 'ARCHIVED';
      if (isArchived) await archive(datasets, principal, dataset, id);
      const source = sourceOf(projectId, body);
      const item = toItemRead(dataset, { id, row, source, changedAt: Date.now() * 1000 });
      return { status: 200, body: isArchived ? { ...item, status: 'ARCHIVED' as const } : item };
    },
  });
}

/** @throws DomainError `conflict` where the id names an item of another dataset */
function requireOwn(holding: readonly Dataset[], projectId: string, name: string): void {
  const own = name.startsWith(`${projectId}/`) ? name.slice(projectId.length + 1) : name;
  const other = holding.find((dataset) => dataset.name !== own && dataset.id !== own.toLowerCase());
  if (other !== undefined)
    throw new DomainError('conflict', `The dataset ${JSON.stringify(other.name)} has an item with this id`);
}

async function archive(datasets: Datasets, by: Principal, { id }: Dataset, rowId: string): Promise<void> {
  const bytes = Buffer.from(JSON.stringify({ rows: [], remove: [rowId] }));
  await datasets.upload(by, id, { format: 'json', bytes, mode: 'merge', message: 'Archived by a Langfuse client' });
}

const ListQuery = Type.Object({
  datasetName: Type.String({ ...datasetName, description: 'Name of the dataset.' }),
  version: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'A time, in ISO 8601: the items of the newest version that there was then. Default: now.',
    }),
  ),
  ...pageParameters('items', 1_000_000),
});

const ItemPage = Type.Object(
  { data: Type.Array(ItemRead, { description: 'A page of items, in the order of the dataset.' }), meta: PageMeta },
  { $id: 'LangfuseDatasetItems', description: 'A page of items.' },
);

function listRoute(datasets: Datasets) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/dataset-items',
    operationId: 'listLangfuseDatasetItems',
    scopes: ['datasets:read'],
    summary: 'List items of a dataset (Langfuse)',
    description: 'Lists the rows of a version of a dataset, by default of the newest, as items.',
    tag: TAG,
    access: 'key',
    bulk: true,
    query: queryOf(ListQuery),
    responses: { 200: { description: 'The items.', schema: ItemPage } },
    errors: ['invalid', 'not_found', 'unavailable'],
    renderError,
    handle({ principal: { project_id }, query: { datasetName: name, version: at, page, limit } }) {
      const dataset = datasets.find(project_id, nameOf(name));
      const version = at === undefined ? datasets.newest(dataset) : versionAt(datasets, dataset, at);
      if (version === null) return { status: 200, body: { data: [], meta: metaOf({ page, limit }, 0) } };
      const pieces = pageText(datasets, dataset, version, { page, limit });
      const stream = Readable.from(withTurns(pieces), { objectMode: false });
      return { status: 200, contentType: 'application/json', stream };
    },
  });
}

function versionAt(datasets: Datasets, dataset: Dataset, at: string): DatasetVersion | null {
  const time = parseTimestamp(at);
  if (time === undefined) throw invalid([{ pointer: '?version', detail: 'must be an ISO 8601 time' }]);
  try {
    return datasets.versionAt(dataset, time);
  } catch (error) {
    if (error instanceof DomainError && error.kind === 'not_found') return null;
    throw error;
  }
}

/** The pieces of a page: rows may be large, so that they are read in portions, and none is left out. */
function* pageText(
  datasets: Datasets,
  dataset: Dataset,
  version: DatasetVersion,
  asked: { readonly page: number; readonly limit: number },
): Iterable<string> {
  const { page, limit } = asked;
  const place = { id: dataset.id, number: version.number };
  let next = '{"data":[';
  let total = 0;
  for (let read = 0; read < limit;) {
    const window = { limit: limit - read, offset: (page - 1) * limit + read };
    const found = datasets.rows(version, window);
    total = found.total;
    if (found.rows.length === 0) break;
    read += found.rows.length;
    const ids = found.rows.map(({ row_id }) => row_id);
    const origins = datasets.origins(place, ids);
    for (const { row_id: id, content, source } of found.rows) {
      const row = JSON.parse(content) as Readonly<Record<string, unknown>>;
      const changedAt = origins.get(id)?.changed_at ?? version.created_at;
      yield next + JSON.stringify(toItemRead(dataset, { id, row, source, changedAt }));
      next = ',';
    }
  }
  const end = `],"meta":${JSON.stringify(metaOf(asked, total))}}`;
  yield next === ',' ? end : next + end;
}

const ItemParams = Type.Object({
  item_id: Type.String({ minLength: 1, maxLength: MAX_ROW_ID * 3, description: 'Id of the item.' }),
});

function getRoute(datasets: Datasets) {
  return defineRoute({
    method: 'GET',
    path: '/api/public/dataset-items/:item_id',
    operationId: 'getLangfuseDatasetItem',
    scopes: ['datasets:read'],
    summary: 'Get an item of a dataset (Langfuse)',
    description: 'Returns an item of the newest version of its dataset.',
    tag: TAG,
    access: 'key',
    params: ItemParams,
    responses: { 200: { description: 'The item.', schema: ItemRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    renderError,
    handle({ principal: { project_id }, params: { item_id: id } }) {
      const dataset = datasetOfItem(datasets, project_id, id);
      const place = { id: dataset.id, number: dataset.last_version };
      const content = datasets.namedRows(place, [id]).get(id);
      const origin = datasets.origins(place, [id]).get(id);
      if (content === undefined || origin === undefined) throw noItem();
      const row = JSON.parse(content) as Readonly<Record<string, unknown>>;
      const { source, changed_at: changedAt } = origin;
      return { status: 200, body: toItemRead(dataset, { id, row, source, changedAt }) };
    },
  });
}

const Deleted = Type.Object({ message: Type.String({ description: 'That it is deleted.' }) });

function deleteRoute({ datasets, deletions }: LangfuseItems) {
  return defineRoute({
    method: 'DELETE',
    path: '/api/public/dataset-items/:item_id',
    operationId: 'deleteLangfuseDatasetItem',
    scopes: ['datasets:write'],
    summary: 'Delete an item of a dataset (Langfuse)',
    description: 'Erases the item from all versions of its dataset, with its results in experiments.',
    tag: TAG,
    access: 'key',
    params: ItemParams,
    responses: { 200: { description: 'The item is deleted.', schema: Deleted } },
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    renderError,
    async handle({ principal, params: { item_id: rowId } }) {
      const { project_id: projectId } = principal;
      const { id: datasetId } = datasetOfItem(datasets, projectId, rowId);
      if (!(await deletions.eraseRow(projectId, { datasetId, rowId, by: principal }))) throw noItem();
      return { status: 200, body: { message: 'Dataset item successfully deleted' } };
    },
  });
}

/** @throws DomainError `not_found`; `conflict` where items of several datasets have the id */
export function datasetOfItem(
  datasets: Pick<DatasetService, 'find' | 'holding'>,
  projectId: string,
  itemId: string,
): Dataset {
  const [first, second] = datasets.holding(projectId, itemId, 2);
  if (first === undefined) throw noItem();
  if (second !== undefined)
    throw new DomainError(
      'conflict',
      `Rows of ${JSON.stringify(first.name)} and ${JSON.stringify(second.name)} have this id: give rows ids that are unique in the project`,
    );
  return datasets.find(projectId, first.id);
}

const noItem = () => new DomainError('not_found', 'There is no dataset item with this id');
