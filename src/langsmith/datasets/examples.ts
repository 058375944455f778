import { Type, type Static } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { JsonNames } from '../../engine/json-text.js';
import { orNull, time, uuid } from '../../engine/schema/parts.js';
import { UUID } from '../../engine/schema/ids.js';
import { withTurns } from '../../engine/work/portions.js';
import { formatTimestamp } from '../../engine/timestamp.js';
import { invalid } from '../../engine/validation/validation.js';
import type { Dataset, DatasetVersion } from '../../features/datasets/dataset.js';
import { partsOf } from '../../features/datasets/row-parts.js';
import { jsonPart, readFormData } from '../../http/form-data.js';
import { ownId } from '../ids.js';
import { asObject } from '../../facade/json.js';
import type { Media } from '../../features/images/media.js';
import type { RowFiles } from '../../features/images/row-files.js';
import { AttachmentUrls, COLUMN, MAX_FILES, readFile, readOperations, urlsOf, type Operations } from './attachments.js';
import { ROLES } from './dataset-routes.js';

/** Most parts of one request. */
const MAX_PARTS = 40_000;
const FIELDS: ReadonlySet<string> = new Set(['', 'inputs', 'outputs', 'attachments_operations']);

type Json = Readonly<Record<string, unknown>>;

/** An example as it was sent, as far as it says something. */
export interface SentExample {
  readonly id: string;
  readonly columns: Json;
  /** Its files by their names. */
  readonly files: ReadonlyMap<string, Media>;
  /** What becomes of those that it has; null: they stay. */
  readonly operations: Operations | null;
}

const object = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
export const ExampleRead = Type.Object(
  {
    id: uuid('Id of the example: that of the row.'),
    dataset_id: uuid('Id of the dataset.'),
    inputs: object('The column `inputs`, or those with the role `input`.'),
    outputs: orNull(object('The column `outputs`, or those with the role `expected`.')),
    metadata: object('The column `metadata`, and `dataset_split`.'),
    source_run_id: orNull(uuid('Run that the row was made of.')),
    attachment_urls: orNull(AttachmentUrls),
    created_at: time('When the version was made.'),
    modified_at: time('The same.'),
  },
  { $id: 'LangsmithExample', description: 'A row of a dataset, as clients of LangSmith read it.' },
);
export type ExampleRead = Static<typeof ExampleRead>;

/** Where a row is. */
export interface RowOf {
  readonly projectId: string;
  readonly dataset: Dataset;
  readonly version: DatasetVersion;
}

export function toExampleRead(
  { projectId, dataset, version }: RowOf,
  { row_id, content }: { readonly row_id: string; readonly content: string },
  files: Pick<RowFiles, 'find'>,
): ExampleRead {
  const row = JSON.parse(content) as Record<string, unknown>;
  const at = formatTimestamp(version.created_at);
  const splits = splitsOf(row);
  const { inputs, outputs, metadata } = valuesOf(row, dataset);
  const run = row['source_run_id'];
  return {
    ...{ id: ownId(projectId, row_id), dataset_id: dataset.id, inputs, outputs },
    metadata: { ...metadata, dataset_split: splits },
    source_run_id: typeof run === 'string' && UUID.test(run) ? run : null,
    attachment_urls: urlsOf(files, { projectId, datasetId: dataset.id }, row[COLUMN]),
    ...{ created_at: at, modified_at: at },
  };
}

/** The splits of a row; without one, it is in `base`. */
export function splitsOf(row: Json): string[] {
  const said = [row['split']].flat().filter((split) => typeof split === 'string' && split !== '');
  return said.length === 0 ? ['base'] : (said as string[]);
}

/** The metadata of a row. */
export function metadataOf(row: Json): Json {
  return asObject(row['metadata']) ?? {};
}

function valuesOf(row: Record<string, unknown>, { roles }: Dataset) {
  const isOurs = Object.entries(ROLES).every(([column, role]) => roles[column] === role);
  if (isOurs)
    return {
      inputs: { ...asObject(row['inputs']) },
      outputs: asObject(row['outputs']) === undefined ? null : { ...asObject(row['outputs']) },
      metadata: metadataOf(row),
    };
  const { input, expected } = partsOf(row, roles);
  const metadata = Object.fromEntries(Object.entries(row).filter(([column]) => roles[column] === 'metadata'));
  return { inputs: input, outputs: Object.keys(expected).length === 0 ? null : expected, metadata };
}

interface GatheredExample {
  readonly columns: Record<string, unknown>;
  readonly files: Map<string, Media>;
  operations: Operations | null;
}

/**
 * Reads examples from parts `<id>`, `<id>.inputs`, `<id>.outputs`, `<id>.attachment.<name>` and `<id>.attachments_operations`.
 * @throws DomainError `malformed`, `too_large`, `invalid`
 */
export async function readExamples(projectId: string, bytes: Buffer): Promise<SentExample[]> {
  const names = new JsonNames();
  const examples = new Map<string, GatheredExample>();
  let count = 0;
  for await (const part of withTurns(readFormData(bytes, MAX_PARTS))) {
    const [id = '', field = '', ...rest] = part.name.split('.');
    const refuse = (detail: string) => invalid([{ pointer: `/${part.name.slice(0, 100)}`, detail }]);
    const example = examples.get(id) ?? { columns: {}, files: new Map<string, Media>(), operations: null };
    examples.set(id, example);
    if (id !== '' && field === 'attachment') {
      if ((count += 1) > MAX_FILES)
        throw new DomainError('too_large', `The body has more than ${MAX_FILES} attachments: send smaller batches`);
      const name = rest.join('.');
      example.files.set(name, await readFile(part, name, refuse));
      continue;
    }
    if (id === '' || rest.length > 0 || !FIELDS.has(field)) throw refuse('is unknown');
    const value = asObject(jsonPart(part, names));
    if (value === undefined) throw refuse('must be an object');
    if (field === 'attachments_operations') example.operations = readOperations(value);
    else if (field !== '') example.columns[field] = value;
    else Object.assign(example.columns, columnsIn(value, refuse));
  }
  return [...examples].map(([id, example]) => ({ id: ownId(projectId, id), ...example }));
}

function columnsIn(body: Json, refuse: (detail: string) => DomainError): Record<string, unknown> {
  const { metadata, split, source_run_id, use_source_run_io } = body;
  if (use_source_run_io === true) throw refuse('must say inputs and outputs: use_source_run_io is not supported');
  return {
    ...(metadata != null && { metadata }),
    ...(split != null && { split }),
    ...(source_run_id != null && { source_run_id }),
  };
}
