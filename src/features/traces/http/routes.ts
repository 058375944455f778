import { type TSchema, Type } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import { uuid } from '../../../engine/schema/parts.js';
import type { DeletableKind } from '../../../engine/traces/model/deletion/stored-spans.js';
import {
  type ListDefinition,
  sessionList,
  spanList,
  traceList,
} from '../../../engine/traces/model/list/definitions.js';
import type { Lists, Page } from '../../../engine/traces/model/list/lists.js';
import type { ListQuery } from '../../../engine/traces/model/list/query.js';
import { SessionRead, SpanRead, TraceRead } from '../../../engine/traces/model/list/read-schemas.js';
import type { ListStatistics } from '../../../engine/traces/model/list/statistics.js';
import type { Tails } from '../../../engine/traces/model/list/tail.js';
import { MAX_OUTLINED, OutlineRead } from '../../../engine/traces/model/trace/outline-schema.js';
import type { OutlineService } from '../../../engine/traces/model/trace/outline.js';
import { listQueries } from '../../../http/list-query.js';
import { defineRoute, type SerializedResult } from '../../../http/route.js';
import type { DeletionService } from '../../deletion/deletion-service.js';
import type { CostExplainer } from '../../prices/cost-explanation.js';
import type { PostedIngest } from '../posted-ingest.js';
import type { Exports } from '../../exports/exports.js';
import { exportRoute } from '../../exports/http/export-route.js';
import { exportedList } from './exported-lists.js';
import { getCostRoute } from './get-cost.js';
import { getRoutes } from './get-route.js';
import {
  NOT_CURRENT,
  NOT_CURRENT_HEADERS,
  notCurrentHeaders,
  OBJECT_HEADERS,
  objectHeaders,
} from './object-headers.js';
import { type PostSpans, postSpansRoute } from './post-spans.js';
import { postSessionsRoute, postTracesRoute } from './post-traces.js';
import { facetsRoute, statisticsRoute } from './statistics-routes.js';
import { tailRoute } from './tail-route.js';
import { type TextParts, textRoutes } from './text-routes.js';

interface TraceRouteParts {
  readonly postSpans: PostSpans;
  readonly posted: PostedIngest;
  readonly lists: Lists;
  readonly statistics: ListStatistics;
  readonly outlines: Pick<OutlineService, 'of'>;
  readonly texts: TextParts['texts'];
  readonly costs: Pick<CostExplainer, 'of'>;
  readonly tails: Tails;
  readonly exports: Exports;
  readonly deletions: Pick<DeletionService, 'delete'>;
}

/** Everything about spans, traces and sessions. */
export function traceRoutes(parts: TraceRouteParts) {
  const { postSpans, posted, lists, statistics, outlines, texts, costs, tails, exports, deletions } = parts;
  return [
    postSpansRoute(postSpans),
    listRoute(spanList, SpanRead, (projectId, query, signal) => lists.spans(projectId, query, signal)),
    deleteRoute('span', deletions),
    postTracesRoute(posted),
    listRoute(traceList, TraceRead, (projectId, query, signal) => lists.traces(projectId, query, signal)),
    deleteRoute('trace', deletions),
    postSessionsRoute(posted),
    listRoute(sessionList, SessionRead, (projectId, query, signal) => lists.sessions(projectId, query, signal)),
    deleteRoute('session', deletions),
    statisticsRoute(spanList, statistics),
    facetsRoute(spanList, statistics),
    statisticsRoute(traceList, statistics),
    facetsRoute(traceList, statistics),
    statisticsRoute(sessionList, statistics),
    facetsRoute(sessionList, statistics),
    ...getRoutes(lists),
    getOutlineRoute(outlines),
    ...textRoutes({ texts, lists }),
    getCostRoute(costs),
    tailRoute(spanList, tails),
    tailRoute(traceList, tails),
    exportRoute(exportedList(spanList, lists), exports),
    exportRoute(exportedList(traceList, lists), exports),
    exportRoute(exportedList(sessionList, lists), exports),
  ];
}

/** `DELETE /spans/{id}`, `/traces/{id}` and `/sessions/{id}`. */
function deleteRoute<const W extends DeletableKind>(what: W, deletions: Pick<DeletionService, 'delete'>) {
  return defineRoute({
    method: 'DELETE',
    path: `/${what}s/:id` as const,
    operationId: `delete${what.charAt(0).toUpperCase()}${what.slice(1)}`,
    summary: `Delete a ${what}`,
    description: `Deletes the ${what}${below[what]}, from every list, count and cost. With ${what === 'span' ? 'it' : 'the spans'}, the server deletes the evaluations, feedback and corrections, queued runs, images that no other span refers to, the judge calls that were stored as spans and contain its text, the samples of optimizations and trials, and its words in the search index. No judge is shown it as an example again. Prompt versions that were made from candidates stay, and so do figures of jobs. Once the call responds, all of it is deleted (of more than 500 images, the bytes of the others are removed within minutes). If a step fails or a stop interrupts it, the server completes it later automatically. A span that is sent again with the same id is a new span.`,
    tag: 'Traces',
    access: 'key',
    scopes: ['admin'],
    params: Type.Object({ id: uuid(`Id of the ${what}.`) }),
    responses: { 204: { description: `The ${what} is deleted.` } },
    errors: ['not_found', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal, params }) {
      if (await deletions.delete(principal.project_id, { kind: what, id: params.id, by: principal }))
        return { status: 204 };
      throw new DomainError('not_found', `There is no ${what} with this id.`);
    },
  });
}

const below: Readonly<Record<DeletableKind, string>> = {
  span: '',
  trace: ' and all its spans',
  session: ', its traces and all their spans',
};

function getOutlineRoute(outlines: Pick<OutlineService, 'of'>) {
  return defineRoute({
    method: 'GET',
    path: '/traces/:id/outline',
    operationId: 'getTraceOutline',
    summary: 'Get the outline of a trace',
    description: `Returns all spans of a trace as columns, small enough to draw the whole tree at once: kind, time, cost, evaluations and feedback, without texts. At most ${MAX_OUTLINED} spans; \`total\` counts all.`,
    tag: 'Traces',
    access: 'key',
    bulk: true,
    params: Type.Object({ id: uuid('Id of the trace.') }),
    responses: { 200: { description: 'The outline.', schema: OutlineRead, headers: NOT_CURRENT_HEADERS } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params: { id }, signal }) {
      const { outline, isCurrent } = await outlines.of(principal.project_id, id, signal);
      return { status: 200, body: outline, headers: notCurrentHeaders(isCurrent ? [] : [id]) };
    },
  });
}

type ReadPage = (projectId: string, query: ListQuery, signal: AbortSignal) => Promise<Page>;

/** `GET /spans`, `/traces` and `/sessions`: one endpoint, three definitions. */
// The schema's type is that of the answer.
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
function listRoute<const N extends ListDefinition['name'], S extends TSchema>(
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
