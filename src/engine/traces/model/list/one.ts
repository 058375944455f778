import { text } from 'node:stream/consumers';
import { DomainError } from '../../../errors.js';
import { listDefinitions, spanList, type ListDefinition } from './definitions.js';
import type { Lists, Page } from './lists.js';
import { defaultQuery, type ListQuery } from './query.js';

/** Traces that are named of a span whose id several have. */
export const MAX_TRACES_NAMED = 10;

/** A query for the objects of a list with these ids, also of the server's own calls of models and of experiments. */
export function byIds(list: ListDefinition, ids: Readonly<Record<string, string>>, limit = 1): ListQuery {
  const filters = list.filters.flatMap((filter) => {
    const id = ids[filter.parameter];
    return id === undefined ? [] : [{ filter, values: [id] }];
  });
  return { ...defaultQuery(list), filters, internal: 'included', experiments: 'included', limit };
}

/** A trace or session as its list has it, as an array of one; an empty one: there is none. */
export function traceOrSession(
  lists: Lists,
  list: 'traces' | 'sessions',
  projectId: string,
  id: string,
  signal?: AbortSignal,
): Promise<Page> {
  return lists[list](projectId, byIds(listDefinitions[list], { id }), signal);
}

/** What a span is asked for by: ids of spans are unique within their trace. */
export interface SpanId {
  readonly id: string;
  /** Null: the only trace that has a span with this id. */
  readonly traceId: string | null;
}

/** A span as its list has it, as an array of one; an empty one: there is none. @throws DomainError as {@link onlyTrace} */
export async function oneSpan(lists: Lists, projectId: string, span: SpanId, signal?: AbortSignal): Promise<Page> {
  const trace_id = await traceOf(lists, projectId, span, signal);
  return lists.spans(projectId, byIds(spanList, { id: span.id, trace_id }), signal);
}

/** The trace of a span: a read of one trace is quick. @throws DomainError as {@link onlyTrace} */
async function traceOf(
  lists: Lists,
  projectId: string,
  { id, traceId }: SpanId,
  signal?: AbortSignal,
): Promise<string> {
  if (traceId !== null) return traceId;
  const query = { ...byIds(spanList, { id }, MAX_TRACES_NAMED + 1), fields: ['trace_id'] };
  const { json } = await lists.spans(projectId, query, signal);
  const found = JSON.parse(Buffer.isBuffer(json) ? json.toString() : await text(json)) as { trace_id: string }[];
  return onlyTrace(found.map(({ trace_id }) => trace_id));
}

/**
 * The trace that alone has a span.
 * @param found the traces that have it, of many the first {@link MAX_TRACES_NAMED} and one
 * @throws DomainError `not_found`; `conflict` when there are several
 */
export function onlyTrace(found: readonly string[]): string {
  const [first, ...more] = found;
  if (first === undefined) throw new DomainError('not_found', 'There is no span with this id');
  if (more.length === 0) return first;
  const named = [first, ...more].slice(0, MAX_TRACES_NAMED).join(', ');
  const others = more.length < MAX_TRACES_NAMED ? '' : ' and others';
  throw new DomainError(
    'conflict',
    `Several traces have a span with this id; select one with trace_id: ${named}${others}`,
  );
}
