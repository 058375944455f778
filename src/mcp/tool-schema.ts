import { apiCall, type ApiParameter, type ApiSchema } from '../http/api-calls.js';
import type { Tool } from './tools.js';

/** Tokens of a result where the agent does not say how many, and the bounds of what it may say. */
export const TOKENS = { minimum: 500, maximum: 20_000, default: 4_000 } as const;
/** About so many characters make a token. */
export const CHARACTERS_OF_TOKEN = 4;

/** What says nothing that the name of a parameter does not. */
const SAID_BY_NAME =
  /^(Filters by [a-z_.]+: equal to |Lower bound of |Upper bound of |Most items |Number of items to skip|Ascending or )/;
const LONGEST_DESCRIPTION = 120;
/** Parameters that agents hardly need: their descriptions would be read by each of them, in every conversation. */
const RARE = new Set(['id', 'created_after', 'created_before', 'internal', 'experiments', 'time_zone']);
/** Keywords of schemas that help to fill them in; the server checks all of them. */
const KEPT = new Set(['type', 'enum', 'const', 'properties', 'items', 'anyOf', 'required', 'additionalProperties']);

const text = (description: string): ApiSchema => ({ type: 'string', description });
const whole = (description: string): ApiSchema => ({ type: 'integer', description });

/** Parameters of tools whose answer is more than that of their call, beside those of the call. */
const FURTHER: Readonly<Record<NonNullable<Tool['as']>, Readonly<Record<string, ApiSchema>>>> = {
  text: {},
  span: {
    field: text('Field to read alone, such as input_data, output_data, attributes or error_stack.'),
    offset: whole('Character of the field to begin at; default: 0.'),
  },
  versions: {
    from: whole('Number of the earlier version.'),
    to: whole('Number of the later version; default: the newest.'),
  },
};
/** Parameters of calls that tools answer themselves. */
const ANSWERED: Readonly<Record<NonNullable<Tool['as']>, readonly string[]>> = {
  text: ['max_characters'],
  span: [],
  versions: ['version', 'tag'],
};
const REQUIRED: Readonly<Partial<Record<NonNullable<Tool['as']>, readonly string[]>>> = { versions: ['from'] };

/** The parameters that an agent gives a tool, those of its call. */
export function offeredParameters({ call, as }: Tool): ApiParameter[] {
  const answered = as === undefined ? [] : ANSWERED[as];
  return apiCall(call).parameters.filter(
    ({ name, in: place }) =>
      name !== 'project_id' && !answered.includes(name) && !(place === 'query' && RARE.has(name)),
  );
}

type ToolSchema = ApiSchema & { readonly type: 'object' };

const made = new WeakMap<Tool, ToolSchema>();

/** The JSON Schema of a tool's arguments: that of the call, with what an agent needs to know of it. */
export function inputSchemaOf(tool: Tool): ToolSchema {
  const schema = made.get(tool) ?? schemaOf(tool);
  made.set(tool, schema);
  return schema;
}

function schemaOf(tool: Tool): ToolSchema {
  const { as, call } = tool;
  const offered = offeredParameters(tool);
  const { body } = apiCall(call);
  const required = [
    ...offered.filter((parameter) => parameter.required).map(({ name }) => name),
    ...(as === undefined ? [] : (REQUIRED[as] ?? [])),
    ...(body === undefined ? [] : ['body']),
  ];
  return {
    type: 'object',
    properties: {
      ...Object.fromEntries(offered.map(({ name, schema }) => [name, shortened(schema)])),
      ...(as === undefined ? {} : FURTHER[as]),
      ...(body !== undefined && { body: shortened(body) }),
      max_tokens: { type: 'integer' },
    },
    additionalProperties: false,
    ...(required.length > 0 && { required }),
  };
}

function shortened(whole: ApiSchema): ApiSchema {
  const schema = withoutNull(whole);
  const kept = Object.entries(schema)
    .filter(([keyword]) => KEPT.has(keyword))
    .map(([keyword, value]) => [keyword, within(keyword, value)] as const);
  const { description = '' } = schema;
  // How values by name are written, the server says once of all tools.
  const isSaid = SAID_BY_NAME.test(description) || schema['maxProperties'] !== undefined;
  const said = isSaid ? '' : firstSentences(description);
  return { ...Object.fromEntries(kept), ...(said !== '' && { description: said }) };
}

/** What may be null may be left out as well. */
function withoutNull(schema: ApiSchema): ApiSchema {
  const { anyOf = [], ...rest } = schema;
  const [only, ...others] = anyOf.filter(({ type }) => type !== 'null');
  return only === undefined || others.length > 0 ? schema : { ...only, ...rest };
}

function within(keyword: string, value: unknown): unknown {
  if (keyword === 'properties')
    return Object.fromEntries(Object.entries(value as object).map(([name, of]) => [name, shortened(of as ApiSchema)]));
  if (keyword === 'anyOf') return (value as readonly ApiSchema[]).map(undescribed);
  if (keyword === 'items') return undescribed(value as ApiSchema);
  if (keyword === 'additionalProperties' && typeof value === 'object') return undescribed(value as ApiSchema);
  return value;
}

/** Without what is said of the whole already. */
function undescribed(schema: ApiSchema): ApiSchema {
  const { description: _, ...rest } = shortened(schema);
  return rest;
}

function firstSentences(text: string): string {
  let said = '';
  for (const sentence of text.split(/(?<=\.) /)) {
    if (said !== '' && said.length + sentence.length > LONGEST_DESCRIPTION) break;
    said = said === '' ? sentence : `${said} ${sentence}`;
  }
  return said;
}
