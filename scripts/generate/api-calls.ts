import type { ApiCall, ApiParameter, ApiSchema } from '../../src/http/api-calls.js';
import { changingCalls } from '../../src/mcp/tools.js';

/* The calls that commands and tools are made of, taken from the OpenAPI document. */

interface Operation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly {
    readonly name: string;
    readonly in: 'path' | 'query';
    readonly required?: boolean;
    readonly schema: ApiSchema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: ApiSchema }>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, ApiSchema>> };
}

/** Groups of calls that other programs make: browsers, monitoring, clients of Langfuse and LangSmith, and `admin export`. */
const OTHERS = new Set(['Operations', 'Langfuse', 'LangSmith', 'Moving']);
/** What clients of one SDK alone call; it has a newer name. */
const OF_CLIENTS = /\((Python SDK|older path)\)$/;

/** All calls that read, and those that tools change something by. */
export function apiCallsOf(document: unknown): ApiCall[] {
  const { paths, components } = document as Document;
  const whole = inliner(components.schemas);
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => callOf(method.toUpperCase(), path, operation, whole)),
  );
  const changing = new Set(changingCalls());
  return all.filter(({ id, method, tag, summary, answers }) => {
    if (method !== 'GET') return changing.has(id);
    return !OTHERS.has(tag) && !OF_CLIENTS.test(summary) && answers !== '' && answers !== 'text/html';
  });
}

/** The calls as they are written: a line for each, so that what changes can be seen. */
export function apiCallsFile(calls: readonly ApiCall[]): string {
  const places = new Map<string, number>();
  const placeOf = (parameter: ApiParameter): number => {
    const text = JSON.stringify(parameter);
    const place = places.get(text) ?? places.size;
    places.set(text, place);
    return place;
  };
  const written = calls.map((call) => JSON.stringify({ ...call, parameters: call.parameters.map(placeOf) }));
  const lines = (texts: Iterable<string>) => `[\n${[...texts].join(',\n')}\n]`;
  return `{"parameters":${lines(places.keys())},\n"calls":${lines(written)}}\n`;
}

function callOf(method: string, path: string, operation: Operation, whole: (schema: ApiSchema) => ApiSchema): ApiCall {
  const { operationId, tags, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content['application/json']?.schema;
  const answer = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {};
  return {
    id: operationId,
    method,
    path,
    tag: tags[0],
    summary,
    description,
    parameters: parameters.map(({ name, in: place, required = false, schema }): ApiParameter => ({
      name,
      in: place,
      required,
      schema: whole(schema),
    })),
    ...(body !== undefined && { body: whole(body) }),
    answers: Object.keys(answer)[0] ?? '',
  };
}

/** What commands and tools do with schemas is told by these keywords; the server checks all others. */
const KEPT: ReadonlySet<string> = new Set([
  ...['type', 'description', 'enum', 'const', 'default', 'format', 'maximum', 'maxProperties'],
  ...['properties', 'required', 'additionalProperties', 'items', 'anyOf'],
]);

/** Puts shared schemas into those that refer to them, and leaves out what is not needed. */
function inliner(schemas: Readonly<Record<string, ApiSchema>>) {
  const inlined = (schema: ApiSchema): ApiSchema => {
    const { $ref, ...own } = schema;
    const shared = typeof $ref === 'string' ? inlined(schemas[$ref.replace(/^.*\//, '')] ?? {}) : {};
    const kept = Object.entries(own).filter(([keyword]) => KEPT.has(keyword));
    return { ...shared, ...Object.fromEntries(kept.map(([keyword, value]) => [keyword, within(keyword, value)])) };
  };
  const within = (keyword: string, value: unknown): unknown => {
    if (keyword === 'properties')
      return Object.fromEntries(Object.entries(value as object).map(([name, of]) => [name, inlined(of as ApiSchema)]));
    if (keyword === 'anyOf') return (value as readonly ApiSchema[]).map(inlined);
    const isSchema = keyword === 'items' || keyword === 'additionalProperties';
    return isSchema && typeof value === 'object' ? inlined(value as ApiSchema) : value;
  };
  return inlined;
}
