import type { TObject, TSchema } from '@sinclair/typebox';
import { MAX_ISSUES, type DomainErrorKind } from '../engine/errors.js';
import { SCOPE_NAMES } from '../engine/identity/scopes.js';
import { ID, ID_DESCRIPTION } from '../engine/schema/ids.js';
import { PROJECT_HEADER } from './callers.js';
import { HTTP_MEANINGS } from './errors.js';
import { chapterOfTag } from './manual/chapters.js';
import { isRest } from './parameter.js';
import { templatePath } from './path.js';
import { scopesOfRoute } from './route-scopes.js';
import type { Route } from './route.js';
import { NAMES_HEADERS, UNKNOWN_FIELDS } from './names-header.js';

export interface OpenApiInfo {
  readonly title: string;
  readonly version: string;
  readonly description: string;
  /** Path of the server's public URL, without a slash at its end. */
  readonly base: string;
}

/** A JSON object of the OpenAPI document. */
export type Json = { [key: string]: unknown };

/** The OpenAPI 3.1 document of these routes. Schemas with an `$id` become shared components of that name. */
export function buildOpenApi(routes: readonly Route[], { base, ...info }: OpenApiInfo): Json {
  const components = new Map<string, Json>();
  const shown = routes.filter(({ hidden }) => hidden !== true);
  const paths: Record<string, Json> = {};
  for (const route of shown) {
    const path = (paths[templatePath(route.path)] ??= {});
    path[route.method.toLowerCase()] = operation(route, components);
  }
  const tags = [...new Set(shown.map(({ tag }) => tag))].map((tag) => tagOf(tag, base));
  const description = `${info.description}\n\n${introduction(base)}`;
  const named = Object.fromEntries([...components].sort(([a], [b]) => (a < b ? -1 : 1)));
  const schemas = { ...named, Id: SENT_ID, Problem: PROBLEM };
  return {
    openapi: '3.1.0',
    info: { ...info, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: `${base}/`, description: 'This server' }],
    externalDocs: { description: 'The manual', url: `${base}/docs` },
    tags,
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key of the project: `Authorization: Bearer sk_sh_…`',
        },
        signIn: {
          type: 'apiKey',
          in: 'cookie',
          name: 'spanhouse_<installation>',
          description:
            'The cookie that `POST /console/session` sets; its name differs between installations. It has the permissions ' +
            'of its API key, for pages of this server only. `Authorization` overrides it.',
        },
        signInProject: {
          type: 'apiKey',
          in: 'header',
          name: PROJECT_HEADER,
          description: 'Id of the project of a request with the cookie.',
        },
      },
      responses: errorResponses(),
      schemas,
    },
  };
}

/** A group of calls, with the chapter of the manual about it. */
function tagOf(name: string, base: string): Json {
  const { name: chapter, title, summary } = chapterOfTag(name);
  return { name, description: summary, externalDocs: { description: title, url: `${base}/docs/${chapter}` } };
}

const introduction = (base: string) =>
  `The [manual](${base}/docs) describes tasks, and [Use the API](${base}/docs/api-basics) what all calls have in common: ` +
  'ids, times, errors and unknown names. To try a call on this page, select "Authorize" and enter an API key.';

function operation(route: Route, components: Map<string, Json>): Json {
  const parameters = [...pathParameters(route, components), ...queryParameters(route, components)];
  return {
    operationId: route.operationId,
    summary: route.summary,
    description: describedWithScopes(route),
    tags: [route.tag],
    security: route.access === 'key' ? securityOf(route) : [],
    ...(route.access === 'key' ? { 'x-scopes': scopesOfRoute(route) } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, components) }),
    responses: responses(route, components),
  };
}

/** What a call does, and which scopes its key needs. */
function describedWithScopes(route: Route): string {
  if (route.access === 'public') return route.description;
  const scopes = scopesOfRoute(route).map((scope) => `\`${scope}\``);
  if (scopes.length === 0) return `${route.description}\n\nAny API key may call it.`;
  return `${route.description}\n\n${scopes.length > 1 ? 'Scopes' : 'Scope'}: ${scopes.join(', ')}.`;
}

function securityOf({ anyProject = false }: Route): Json[] {
  return [{ apiKey: [] }, { signIn: [], ...(anyProject ? {} : { signInProject: [] }) }];
}

function requestBody(body: NonNullable<Route['body']>, components: Map<string, Json>): Json {
  const schema = sent(body.schema, components);
  return { required: true, content: Object.fromEntries(body.contentTypes.map((type) => [type, { schema }])) };
}

const header = (description: string): Json => ({ description, schema: { type: 'string' } });

function responses(route: Route, components: Map<string, Json>): Json {
  const result: Json = {};
  const unknown = route.body?.lenient === true ? { [UNKNOWN_FIELDS]: NAMES_HEADERS[UNKNOWN_FIELDS] } : {};
  for (const [status, { description, schema, contentType, headers = {} }] of Object.entries(route.responses)) {
    const content =
      schema === undefined
        ? {}
        : { content: { [contentType ?? 'application/json']: { schema: shared(schema, components) } } };
    const shown = Object.entries({ ...headers, ...unknown }).map(([name, text]) => [name, header(text)] as const);
    result[status] = {
      description,
      ...(shown.length > 0 && { headers: Object.fromEntries(shown) }),
      ...content,
    };
  }
  for (const kind of errorKinds(route)) {
    const status = String(HTTP_MEANINGS[kind].status);
    result[status] ??= { $ref: `#/components/responses/${kind}` };
  }
  return result;
}

/** Errors that a route may answer: those it declares, and those that follow from its shape. */
function errorKinds(route: Route): DomainErrorKind[] {
  const kinds = new Set<DomainErrorKind>(route.errors);
  // Whoever needs a key is also told of unknown parameters.
  if (route.access === 'key') for (const kind of ['unauthenticated', 'forbidden', 'invalid'] as const) kinds.add(kind);
  if (route.body !== undefined)
    for (const kind of ['malformed', 'too_large', 'unsupported_media', 'overloaded'] as const) kinds.add(kind);
  if (route.body !== undefined || route.query !== undefined || route.params !== undefined) kinds.add('invalid');
  kinds.add('internal');
  return [...kinds].sort((a, b) => HTTP_MEANINGS[a].status - HTTP_MEANINGS[b].status);
}

function pathParameters(route: Route, components: Map<string, Json>): Json[] {
  return propertiesOf(route.params).map(([name, schema]) => ({
    name,
    in: 'path',
    required: true,
    ...described(schema),
    schema: sent(schema, components),
  }));
}

function queryParameters(route: Route, components: Map<string, Json>): Json[] {
  const query = route.query;
  if (query === undefined) return [];
  const required = new Set<string>(query.schema.required ?? []);
  return propertiesOf(query.schema).map(([name, schema]): Json => ({
    name,
    in: 'query',
    ...(required.has(name) && schema.default === undefined && !isRest(schema) ? { required: true } : {}),
    ...serialized(schema),
    ...described(schema),
    schema: sent(schema, components),
  }));
}

/** How a parameter of several values is written: with commas, or as parameters of these names. */
function serialized(schema: TSchema): Json {
  if (isRest(schema)) return { style: 'form', explode: true };
  return schema['type'] === 'array' ? { style: 'form', explode: false } : {};
}

function propertiesOf(schema: TObject | undefined): [string, TSchema][] {
  return Object.entries(schema?.properties ?? {});
}

function described({ description }: TSchema): Json {
  return description === undefined ? {} : { description };
}

/** The schema as the document shows it: named parts are moved to the components and referred to. */
function shared(schema: TSchema, components: Map<string, Json>): Json {
  return hoist(JSON.parse(JSON.stringify(schema)), components) as Json;
}

/** The schema of what clients send, who may write ids in more forms than answers have. */
function sent(schema: TSchema, components: Map<string, Json>): Json {
  return hoist(withSentIds(JSON.parse(JSON.stringify(schema))), components) as Json;
}

function withSentIds(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSentIds);
  if (typeof value !== 'object' || value === null) return value;
  const { format, description } = value as Json;
  if (format === 'uuid')
    return { $ref: '#/components/schemas/Id', ...(description === undefined ? {} : { description }) };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withSentIds(item)]));
}

function hoist(value: unknown, components: Map<string, Json>): unknown {
  if (Array.isArray(value)) return value.map((item) => hoist(item, components));
  if (typeof value !== 'object' || value === null) return value;
  const { $id, ...rest } = value as Json;
  const children = Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, hoist(item, components)]));
  if (typeof $id !== 'string') return children;
  const known = components.get($id);
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(children)) {
    throw new Error(`Two different schemas are called ${$id}`);
  }
  components.set($id, children);
  return { $ref: `#/components/schemas/${$id}` };
}

function errorResponses(): Json {
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const extra: Partial<Record<DomainErrorKind, Json>> = {
    unauthenticated: { headers: { 'WWW-Authenticate': header('`Bearer`') } },
    method_not_allowed: { headers: { Allow: header('The methods that this path supports') } },
    overloaded: { headers: { 'Retry-After': header('Seconds to wait before retrying') } },
    unavailable: { headers: { 'Retry-After': header('Seconds to wait before retrying') } },
  };
  const kinds = Object.keys(HTTP_MEANINGS) as DomainErrorKind[];
  return Object.fromEntries(
    kinds.map((kind) => [kind, { description: HTTP_MEANINGS[kind].title, ...extra[kind], content }]),
  );
}

const SENT_ID: Json = { type: 'string', pattern: ID.source, description: ID_DESCRIPTION };

const PROBLEM: Json = {
  type: 'object',
  description: 'What went wrong (RFC 9457).',
  required: ['type', 'title', 'status', 'detail', 'request_id'],
  properties: {
    type: { type: 'string', description: 'Identifies the kind of problem; a URN that does not change.' },
    title: { type: 'string', description: 'The kind of problem in words.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: {
      type: 'string',
      description:
        'What is wrong with this request, in a sentence to show to people: for one broken rule, the place and the ' +
        'rule; for several, their number.',
    },
    request_id: { type: 'string', description: 'The `X-Request-Id` of this exchange; the server log has it too.' },
    errors: {
      type: 'array',
      maxItems: MAX_ISSUES,
      description:
        'Every broken rule, even if there is only one, for programs. Show them with `detail` if there are several.',
      items: {
        type: 'object',
        description: 'One broken rule.',
        required: ['pointer', 'detail'],
        properties: {
          pointer: {
            type: 'string',
            description: 'JSON pointer into the body, `?name` of a query parameter or `{name}` of a path parameter.',
          },
          detail: { type: 'string', description: 'The rule, in words.' },
        },
      },
    },
    missing_scopes: {
      type: 'array',
      maxItems: SCOPE_NAMES.length,
      description: 'Of a 403: the scopes that the API key, or the role of the signed-in person, lacks for this call.',
      items: { type: 'string' },
    },
  },
};
