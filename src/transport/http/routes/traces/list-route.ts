import { Type, type TSchema } from '@sinclair/typebox';
import type { ListDefinition } from '../../../../domain/list/definitions.js';
import type { Page } from '../../../../domain/list/lists.js';
import type { ListQuery } from '../../../../domain/list/query.js';
import { listQueries } from '../../list-query.js';
import { NAMES_HEADERS, namesHeader, TAG_FILTERS } from '../../names-header.js';
import { defineRoute, type HandlerResult, type Route } from '../../route.js';

/** Meaning of the headers `X-Not-Current` and `X-Not-Current-Count`, by list. */
const NOT_CURRENT: Readonly<Record<ListDefinition['name'], string>> = {
  spans:
    'While the project has traces too large for ClickHouse to leave replaced versions of their spans out of this list, ' +
    '`X-Not-Current-Count` says how many such traces there are, and `X-Not-Current` has up to 100 of their ids.',
  traces:
    'While the project has traces too large to be recomputed in the memory given, `X-Not-Current-Count` says how many, ' +
    'and `X-Not-Current` has up to 100 of their ids: they lack tags given by `trace_tags`, so that filters by these do not find ' +
    'them, and in the worst case their counts, costs and durations miss recent writes.',
  sessions:
    'While the project has sessions too large to be recomputed in the memory given, or with such traces, `X-Not-Current-Count` says ' +
    'how many, and `X-Not-Current` has up to 100 of their ids: they may lack tags of their spans, and in the worst ' +
    'case their counts, costs and durations miss recent writes.',
};

export type ReadPage = (projectId: string, query: ListQuery, signal: AbortSignal) => Promise<Page>;

/** `GET /spans`, `/traces` and `/sessions`: one endpoint, three definitions. */
export function listRoute(list: ListDefinition, schema: TSchema, read: ReadPage): Route {
  const { name } = list;
  return defineRoute({
    method: 'GET',
    path: `/${name}`,
    operationId: `list${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    summary: `List ${name}`,
    description: `Lists ${name} of the key's project that match every given filter. Every write acknowledged before the call is in it. ${NOT_CURRENT[name]}`,
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

/** Ids that one header names. */
const MAX_NAMED = 100;

const HEADERS = {
  [TAG_FILTERS]: NAMES_HEADERS[TAG_FILTERS],
  'X-Total-Count': 'Number of all matches; only with `count=true`.',
  'X-Not-Current': `Ids of what may lack recent writes, up to ${MAX_NAMED}. Absent: nothing does.`,
  'X-Not-Current-Count': 'How many of these there are.',
};

function answer({ json, total, notCurrent }: Page, { tags }: ListQuery): HandlerResult {
  const headers = {
    ...(tags.size > 0 && { [TAG_FILTERS]: namesHeader([...tags.keys()]) }),
    ...(total === null ? {} : { 'X-Total-Count': String(total) }),
    ...(notCurrent.length === 0
      ? {}
      : {
          'X-Not-Current': notCurrent.slice(0, MAX_NAMED).join(', '),
          'X-Not-Current-Count': String(notCurrent.length),
        }),
  };
  const shared = { status: 200, headers };
  if (Buffer.isBuffer(json)) return { ...shared, json };
  return { ...shared, stream: json, contentType: 'application/json; charset=utf-8' };
}
