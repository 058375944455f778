import { Type, type TSchema } from '@sinclair/typebox';
import type { ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import type { Page } from '../../../engine/traces/model/list/lists.js';
import type { ListQuery } from '../../../engine/traces/model/list/query.js';
import { listQueries } from '../../../http/list-query.js';
import { defineRoute, type SerializedResult } from '../../../http/route.js';
import { NOT_CURRENT, OBJECT_HEADERS, objectHeaders } from './object-headers.js';

export type ReadPage = (projectId: string, query: ListQuery, signal: AbortSignal) => Promise<Page>;

/** `GET /spans`, `/traces` and `/sessions`: one endpoint, three definitions. */
// The schema's type is that of the answer.
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
export function listRoute<const N extends ListDefinition['name'], S extends TSchema>(
  list: ListDefinition & { readonly name: N },
  schema: S,
  read: ReadPage,
) {
  const { name } = list;
  return defineRoute({
    method: 'GET',
    path: `/${name}` as const,
    operationId: `list${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    summary: `List ${name}`,
    description: `Lists ${name} of the key's project that match every given filter. Includes every write acknowledged before the call. ${NOT_CURRENT[name]}`,
    tag: 'Traces',
    access: 'key',
    bulk: true,
    query: listQueries[name],
    responses: {
      200: { description: `A page of ${name}.`, schema: Type.Array(schema), headers: HEADERS },
    },
    errors: ['invalid', 'unavailable'],
    async handle({ principal, query, signal }) {
      return answer(await read(principal.project_id, query, signal), query);
    },
  });
}

const HEADERS = {
  ...OBJECT_HEADERS,
  'X-Total-Count': 'Number of all matches; only with `count=true`.',
};

function answer({ json, total, notCurrent }: Page, query: ListQuery): SerializedResult {
  const headers = {
    ...objectHeaders(query, notCurrent),
    ...(total === null ? {} : { 'X-Total-Count': String(total) }),
  };
  const shared = { status: 200, headers };
  if (Buffer.isBuffer(json)) return { ...shared, json };
  return { ...shared, stream: json, contentType: 'application/json; charset=utf-8' };
}
