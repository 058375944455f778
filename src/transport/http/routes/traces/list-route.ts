import { Type, type TSchema } from '@sinclair/typebox';
import type { ListDefinition } from '../../../../domain/list/definitions.js';
import type { Page } from '../../../../domain/list/lists.js';
import { listQuerySchema } from '../../../../domain/list/query-schema.js';
import { parseListQuery, type ListQuery } from '../../../../domain/list/query.js';
import { defineRoute, type HandlerResult, type Route } from '../../route.js';

export type ReadPage = (projectId: string, query: ListQuery, signal: AbortSignal) => Promise<Page>;

/** `GET /spans`, `/traces` and `/sessions`: one endpoint, three definitions. */
export function listRoute(list: ListDefinition, schema: TSchema, read: ReadPage): Route {
  const { name } = list;
  return defineRoute({
    method: 'GET',
    path: `/${name}`,
    operationId: `list${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    summary: `List ${name}`,
    description: `Lists ${name} of the key's project that match every given filter. Everything acknowledged before the call is in it.`,
    tag: 'Traces',
    access: 'key',
    query: {
      schema: listQuerySchema(list),
      anyOther: {
        name: 'tag',
        description:
          'Every parameter of another name is a tag filter: name and value of the tag. Several must all match; the same ' +
          'one repeated matches any of its values. A tag named like a parameter is written `tags.<key>`.',
      },
      parse: (search) => parseListQuery(list, search),
    },
    responses: {
      200: { description: `A page of ${name}.`, schema: Type.Array(schema) },
    },
    errors: ['invalid', 'unavailable'],
    async handle({ principal, query, signal }) {
      return answer(await read(principal.project_id, query, signal));
    },
  });
}

function answer({ json, total }: Page): HandlerResult {
  const shared = { status: 200, ...(total === null ? {} : { headers: { 'X-Total-Count': String(total) } }) };
  if (Buffer.isBuffer(json)) return { ...shared, json };
  return { ...shared, stream: json, contentType: 'application/json; charset=utf-8' };
}
