import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { DomainError, type Issue } from '../../engine/errors.js';
import { optional } from '../../engine/schema/inputs.js';
import { oneOf } from '../../engine/schema/parts.js';
import { assertValid, compile, invalid } from '../../engine/validation/validation.js';
import { inPortions } from '../../engine/work/portions.js';
import { MAX_ROWS, type Role } from '../../features/datasets/dataset.js';
import type { Upload } from '../../features/datasets/dataset-service.js';
import { MAX_ROW_ID } from '../../features/datasets/files/row-set.js';
import { ColumnName, DatasetName, Description } from '../../features/datasets/schema.js';
import { readFormData } from '../../http/form-data.js';
import { ROLES, SPAN_COLUMN } from './examples.js';

/* What clients upload: examples as lists of their parts, or a table with the names of its columns. */

const ACTIONS = ['update', 'create', 'append'] as const;
const action = oneOf(
  ACTIONS,
  '`create`: there must be no dataset with this name. `update`: the dataset has these examples, and no others. `append`: it has these, too.',
);
const perExample = <T extends TSchema>(item: T, description: string) =>
  optional(Type.Array(item, { maxItems: MAX_ROWS, description: `${description}, in the order of \`inputs\`.` }));
const anyObject = Type.Record(Type.String(), Type.Unknown());
const anyOrNull = <T extends TSchema>(type: T) => Type.Union([type, Type.Null()]);
const split = Type.String({ minLength: 1, maxLength: 200 });

export const UploadInput = Type.Object(
  {
    action,
    name: DatasetName,
    description: optional(Description),
    inputs: Type.Array(anyObject, { minItems: 1, maxItems: MAX_ROWS, description: 'What goes in, of each example.' }),
    outputs: perExample(anyOrNull(anyObject), 'What should come out'),
    metadata: perExample(anyOrNull(anyObject), 'Metadata'),
    splits: perExample(Type.Union([split, Type.Array(anyOrNull(split), { maxItems: 100 }), Type.Null()]), 'Splits'),
    span_ids: perExample(anyOrNull(Type.String({ maxLength: 64 })), 'Spans that examples were made of'),
    example_ids: perExample(
      anyOrNull(Type.String({ minLength: 1, maxLength: MAX_ROW_ID })),
      'Ids of rows; without one, it is made of what the example says',
    ),
  },
  { $id: 'PhoenixDatasetUpload', description: 'Examples, as clients of Phoenix send them.' },
);
export type UploadInput = Static<typeof UploadInput>;

/** What is to become a version of a dataset. */
export interface Sent {
  readonly action: (typeof ACTIONS)[number];
  readonly name: string;
  readonly description: string | null;
  /** What its columns are for. */
  readonly roles: Readonly<Record<string, Role>>;
  readonly upload: Upload;
}

const MESSAGE = 'From a client of Phoenix';

/** @throws DomainError `invalid` where lists do not fit together */
export async function sentAsJson(input: UploadInput): Promise<Sent> {
  const lists = { outputs: input.outputs, metadata: input.metadata, splits: input.splits };
  const all = { ...lists, span_ids: input.span_ids, example_ids: input.example_ids };
  const issues = Object.entries(all).flatMap(([name, list]): Issue[] => {
    const fits = list == null || list.length === input.inputs.length;
    return fits ? [] : [{ pointer: `/${name}`, detail: `must have as many items as inputs: ${input.inputs.length}` }];
  });
  if (issues.length > 0) throw invalid(issues);
  const rows: string[] = [];
  let index = 0;
  await inPortions(input.inputs, (portion) => {
    for (const one of portion) rows.push(JSON.stringify(rowOf(input, index++, one)));
  });
  const mode = modeOf(input.action);
  const bytes = Buffer.from(`{"rows":[${rows.join(',')}],"mode":"${mode}","message":${JSON.stringify(MESSAGE)}}`);
  const { action: asked, name, description = null } = input;
  return {
    ...{ action: asked, name, description, roles: ROLES },
    upload: { format: 'json', bytes, mode, message: MESSAGE },
  };
}

function rowOf(input: UploadInput, index: number, goesIn: object): Record<string, unknown> {
  const splits = [input.splits?.[index] ?? []].flat().filter((each) => each !== null);
  const [span, id] = [input.span_ids?.[index], input.example_ids?.[index]];
  return {
    ...{ input: goesIn, output: input.outputs?.[index] ?? {}, metadata: input.metadata?.[index] ?? {} },
    ...(splits.length > 0 && { splits }),
    ...(span != null && { [SPAN_COLUMN]: span }),
    ...(id != null && { row_id: id }),
  };
}

const modeOf = (asked: Sent['action']) => (asked === 'append' ? 'merge' : 'replace');

/** Most parts of a form, and bytes of a table that was compressed. */
const MAX_PARTS = 5_000;
const MAX_TABLE = 64 * 1024 * 1024;

const formFields = compile(
  Type.Object({
    action,
    name: DatasetName,
    description: Type.Optional(Description),
    split_key: Type.Optional(ColumnName),
    span_id_key: Type.Optional(Type.Literal(SPAN_COLUMN, { description: 'The column with ids of spans.' })),
    example_id_key: Type.Optional(oneOf(['id', 'row_id'], 'The column with ids of rows.')),
  }),
);
const columnNames = compile(Type.Array(ColumnName));

const LISTS: ReadonlyMap<string, Role> = new Map([
  ['input_keys[]', 'input'],
  ['output_keys[]', 'expected'],
  ['metadata_keys[]', 'metadata'],
  ['split_keys[]', 'split'],
]);

/** @throws DomainError `malformed`, `invalid`, `too_large` */
export async function sentAsForm(body: Buffer): Promise<Sent> {
  const fields: Record<string, string> = {};
  const roles: Record<string, Role> = {};
  let table: Buffer | null = null;
  for (const { name, bytes } of readFormData(body, MAX_PARTS)) {
    const role = LISTS.get(name);
    if (name === 'file') table = bytes;
    else if (bytes.length > 20_000) throw invalid([{ pointer: `/${name.slice(0, 100)}`, detail: 'is too long' }]);
    else if (role === undefined) fields[name] = bytes.toString();
    else roles[bytes.toString()] = role;
  }
  if (table === null) throw invalid([{ pointer: '/file', detail: 'is required' }]);
  const said = assertValid(formFields, fields);
  if (said.split_key !== undefined) roles[said.split_key] = 'split';
  assertValid(columnNames, Object.keys(roles));
  const mode = modeOf(said.action);
  const file = table;
  return {
    ...{ action: said.action, name: said.name, description: said.description ?? null, roles },
    upload: { format: 'csv', bytes: () => uncompressed(file), mode, message: MESSAGE },
  };
}

const decompress = promisify(gunzip);

/** Clients compress the table in its part of the form. */
async function uncompressed(table: Buffer): Promise<Buffer> {
  if (table[0] !== 0x1f || table[1] !== 0x8b) return table;
  try {
    return await decompress(table, { maxOutputLength: MAX_TABLE });
  } catch (error) {
    const isLarge = error instanceof RangeError;
    const message = isLarge ? `The table has more than ${MAX_TABLE} bytes` : 'The file is not valid gzip';
    throw new DomainError(isLarge ? 'too_large' : 'malformed', message, { cause: error });
  }
}
