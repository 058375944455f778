import { Type, type Static, type TSchema } from '@sinclair/typebox';
import { splitValues } from '../engine/traces/model/list/comma-values.js';
import { uuidOf } from '../engine/schema/ids.js';
import { parseTimestampText, type Micros } from '../engine/timestamp.js';
import { compile } from '../engine/validation/validation.js';

/** The value of a parameter, or the rule that its texts break. */
export type Reading = { readonly value: unknown } | { readonly rule: string };
/** Reads a parameter from the texts it was given, at least one. */
export type ParameterReader = (texts: readonly string[]) => Reading;
type TextReader = (text: string) => Reading;

/** How one text is read, in schemas of which JSON Schema alone does not say so. A symbol: the documentation leaves it out. */
const READ = Symbol('read');

const DAY: Micros = 86_400e6;
const DATE = /^\d{4}-\d\d-\d\d$/;

/** Units of relative times, in microseconds. */
const AGES: Readonly<Record<string, Micros>> = { s: 1e6, m: 60e6, h: 3600e6, d: DAY, w: 7 * DAY };
const AGE = /^(\d{1,9})([smhdw])$/;

/** A moment so long ago, as in `90s`, `15m`, `1h`, `7d` or `2w`. */
function ago(text: string): Micros | undefined {
  const [, count, unit = ''] = AGE.exec(text) ?? [];
  const at = Date.now() * 1000 - Number(count) * (AGES[unit] ?? NaN);
  return at >= 0 ? at : undefined;
}

const timeOf = (description: string, read: (text: string) => Micros | undefined) =>
  Type.Unsafe<Micros>({
    type: 'string',
    format: 'date-time',
    description:
      `${description} ISO 8601 with or without offset (without: UTC), Unix seconds or milliseconds, or how long ago, ` +
      'such as `15m`, `1h`, `7d`.',
    [READ]: (text: string): Reading => {
      const value = read(text) ?? ago(text);
      if (value !== undefined) return { value };
      return {
        rule: 'must be an ISO 8601 time, a Unix time in seconds or milliseconds, or a time ago such as 1h or 7d',
      };
    },
  });

/** A moment; a date alone is its first. */
export const time = (description: string) => timeOf(description, parseTimestampText);

/** The end of a time; a date alone is its last moment. */
export const endTime = (description: string) =>
  timeOf(`${description} A date alone means its whole day.`, (text) => {
    const at = parseTimestampText(text);
    return at !== undefined && DATE.test(text) ? at + DAY - 1 : at;
  });

/** A value, or the word `null` for none. */
export const orNull = <S extends TSchema>(schema: S) => {
  const read = textReader(schema);
  return Type.Unsafe<Static<S> | null>({
    anyOf: [schema, { type: 'string', const: 'null', description: 'None.' }],
    description: schema.description ?? '',
    [READ]: (text: string): Reading => (text === 'null' ? { value: null } : read(text)),
  });
};

/** A value that a text stands for by a rule of its own. @param rule what is said of a text that `read` has no value for */
export const readAs = <T>(
  schema: Readonly<Record<string, unknown>>,
  rule: string,
  read: (text: string) => T | undefined,
) =>
  Type.Unsafe<T>({
    ...schema,
    [READ]: (text: string): Reading => {
      const value = read(text);
      return value === undefined ? { rule } : { value };
    },
  });

/** Values separated by commas, at least one. */
export const csv = <S extends TSchema>(
  items: S,
  options: { readonly description: string; readonly maxItems?: number },
) => Type.Array(items, { minItems: 1, ...options });

/** Names that are mistaken for parameters, with the rule that says what to write instead. */
export type MistakenNames = ReadonlyMap<string, string>;

/** The names that parameters without a schema of their own must not have. */
const MISTAKEN = Symbol('mistaken');

/**
 * All parameters that the query does not name, as filters by tag: key → accepted values. `tags.<key>` is always one,
 * so that a tag may be called like a parameter.
 */
export const restAsTags = (description: string, mistaken: MistakenNames = new Map()) =>
  Type.Unsafe<ReadonlyMap<string, readonly string[]>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    maxProperties: MAX_TAGS,
    description,
    [MISTAKEN]: mistaken,
  });

/** The names that a query must not have beside the parameters of this schema. */
export const mistakenNames = (schema: TSchema): MistakenNames =>
  (schema as { [MISTAKEN]?: MistakenNames })[MISTAKEN] ?? new Map();

const PREFIX = Symbol('prefix');
const MAX_PREFIXED = 20;

/**
 * All parameters whose names begin with a prefix, by what follows it.
 * @param read the value that the texts of one stand for, or the rule that they break
 */
export const restByPrefix = <T>(
  prefix: string,
  description: string,
  read: (texts: readonly string[]) => { readonly value: T } | { readonly rule: string },
) =>
  Type.Unsafe<ReadonlyMap<string, T>>({
    type: 'object',
    additionalProperties: { type: 'string' },
    maxProperties: MAX_PREFIXED,
    description,
    [PREFIX]: { prefix, read },
  });

type Others = Iterable<readonly [string, readonly string[]]>;

/** What stands for parameters without a schema of their own: how their names begin, and how they are read. */
export interface RestReader {
  readonly prefix: string;
  readonly read: (others: Others) => Reading;
}

/** @param schema for which {@link isRest} */
export function restReader(schema: TSchema): RestReader {
  const own = (schema as { [PREFIX]?: { prefix: string; read: (texts: readonly string[]) => Reading } })[PREFIX];
  if (own === undefined) return { prefix: '', read: readRest };
  return {
    prefix: own.prefix,
    read(others) {
      const values = new Map<string, unknown>();
      for (const [name, texts] of others) {
        const reading = own.read(texts);
        if ('rule' in reading) return { rule: `${name} ${reading.rule}` };
        values.set(name.slice(own.prefix.length), reading.value);
      }
      return values.size > MAX_PREFIXED ? { rule: `must be at most ${MAX_PREFIXED}` } : { value: values };
    },
  };
}

const MAX_TAGS = 100;
export const TAG_PREFIX = 'tags.';

/** Whether this stands for the parameters that have no schema of their own. */
export const isRest = (schema: TSchema) => schema['type'] === 'object';

/** @param others the names and texts of parameters that have no schema of their own */
function readRest(others: Others): Reading {
  const tags = new Map<string, string[]>();
  for (const [name, texts] of others) {
    const key = name.startsWith(TAG_PREFIX) ? name.slice(TAG_PREFIX.length) : name;
    tags.set(key, [...(tags.get(key) ?? []), ...texts]);
  }
  return tags.size > MAX_TAGS ? { rule: `must be at most ${MAX_TAGS} tags` } : { value: tags };
}

/** Reads a parameter as its schema says; the schema is also what the documentation shows. */
export function parameterReader(schema: TSchema): ParameterReader {
  if (schema['type'] === 'array') return listReader(schema);
  const read = textReader(schema);
  return ([text = '', ...more]) => (more.length > 0 ? { rule: 'must be given once' } : read(text));
}

function textReader(schema: TSchema): TextReader {
  const own = (schema as { [READ]?: TextReader })[READ];
  if (own !== undefined) return own;
  const validated = validatedBy(schema);
  return (text) => validated(valueOf(schema, text));
}

/** A comma separates items and is itself written `%2C` (and `%2C` as `%252C`); a repeated parameter is taken as it is. */
function listReader(schema: TSchema): ParameterReader {
  const item = schema['items'] as TSchema;
  const validated = validatedBy(schema);
  const validatedItems = (texts: readonly string[]) => validated(texts.map((text) => valueOf(item, text)));
  // Names of a fixed set hold no comma, so each of several texts may list some.
  if (item['enum'] !== undefined) return (texts) => validatedItems(texts.flatMap((text) => text.split(',')));
  return (texts) => {
    const items = texts.length > 1 ? texts : splitValues(texts[0] ?? '');
    return validatedItems(items.filter((text) => text !== ''));
  };
}

function validatedBy(schema: TSchema): (value: unknown) => Reading {
  const validator = compile(schema);
  return (value) => {
    const [issue] = validator.issues(value, '', 1);
    if (issue === undefined) return { value };
    // Its own rule would not say why a number of a hundred digits is none.
    if (schema['type'] === 'integer' && typeof value === 'string') return { rule: wholeNumberOf(schema) };
    return { rule: issue.detail };
  };
}

function wholeNumberOf({ minimum, maximum }: TSchema): string {
  const range = minimum === undefined || maximum === undefined ? '' : ` from ${minimum} to ${maximum}`;
  return `must be a whole number${range}`;
}

const INTEGER = /^-?\d{1,16}$/;
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
]);

/** Text that is not of the type stays as it is, for the validator to complain about. */
function valueOf({ type, format }: TSchema, text: string): unknown {
  switch (type) {
    case 'integer':
      return INTEGER.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : text;
    case 'number':
      return NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : text;
    case 'boolean':
      return BOOLEANS.get(text.toLowerCase()) ?? text;
    default:
      return format === 'uuid' ? uuidOf(text) : text;
  }
}
