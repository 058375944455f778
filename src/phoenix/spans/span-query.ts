import { Type, type Static, type TObject } from '@sinclair/typebox';
import { ID, ID_DESCRIPTION, UUID, uuidOf } from '../../engine/schema/ids.js';
import { parseTimestamp } from '../../engine/timestamp.js';
import { spanList } from '../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import type { AppliedFilter, FilterValue, ListedPosition } from '../../engine/traces/model/list/query.js';
import { invalid } from '../../engine/validation/validation.js';
import { filterBy, queryFor, rowsOf, timeOf } from '../../facade/list-rows.js';
import { csv } from '../../http/parameter.js';
import type { ListedSpan } from './presented.js';

/* Which spans clients of Phoenix ask for. */

const anId = Type.String({ pattern: ID.source, 'x-must': 'be an id', description: ID_DESCRIPTION });
export const moment = (description: string) => Type.String({ maxLength: 64, description });
const word = (description: string) => Type.String({ minLength: 1, maxLength: 256, description });

/** Most ids of one request: each is looked for by itself. */
const MAX_IDS = 100;
export const selection = {
  start_time: Type.Optional(moment('Only spans that started then or later, in ISO 8601.')),
  end_time: Type.Optional(moment('Only spans that started before, in ISO 8601.')),
  trace_id: Type.Optional(csv(anId, { maxItems: MAX_IDS, description: 'Only spans of these traces.' })),
  span_id: Type.Optional(csv(anId, { maxItems: MAX_IDS, description: 'Only these spans.' })),
  parent_id: Type.Optional(word('Only children of this span; `null`: only root spans.')),
  name: Type.Optional(csv(word('A name.'), { maxItems: 100, description: 'Only spans with one of these names.' })),
  span_kind: Type.Optional(
    csv(word('A kind.'), { maxItems: 1, description: 'Only spans of this kind, such as `LLM`.' }),
  ),
  status_code: Type.Optional(
    csv(word('`OK`, `ERROR` or `UNSET`.'), { maxItems: 3, description: 'Only spans with an error, or without.' }),
  ),
  attribute: Type.Optional(Type.String({ maxLength: 0, description: 'Not supported.' })),
};
type Selection = Partial<Static<TObject<typeof selection>>>;

export interface AskedSpans extends Selection {
  /** A value of the tag `project`; undefined: any. */
  readonly project: string | undefined;
}

/** A page: what comes in meanwhile moves no span to another one. */
export interface SpanWindow {
  readonly limit: number;
  /** The last span of the page before; null: this is the first page. */
  readonly behind: ListedPosition | null;
}

/** How a cursor names the last span of a page. */
export const spanCursor = Type.Optional(
  Type.String({
    pattern: '^-?[0-9]{1,17}_[0-9a-f-]{36}_[0-9a-f-]{36}$',
    description: '`next_cursor` of the page before.',
  }),
);

/** The cursor behind a span. */
export function cursorOf({ started_at, trace_id, id }: ListedPosition): string {
  return `${started_at}_${trace_id}_${id}`;
}

/** @throws DomainError `invalid` */
export function positionAt(at: string | undefined): ListedPosition | null {
  if (at === undefined) return null;
  const [started = '', trace_id = '', id = ''] = at.split('_');
  if (!UUID.test(trace_id) || !UUID.test(id)) throw invalid([{ pointer: '?cursor', detail: 'is from no page' }]);
  return { started_at: Number(started), trace_id, id };
}

/** Where the last span of a page stands; null: the page has none. */
export function lastOf(found: readonly ListedSpan[]): ListedPosition | null {
  const last = found.at(-1);
  return last === undefined
    ? null
    : { started_at: parseTimestamp(last.started_at) ?? 0, trace_id: last.trace_id, id: last.id };
}

/** Spans of a page, newest first. Of ids, the first so many of each. @throws DomainError `invalid`, `too_large` */
export async function spansAsked(
  lists: Pick<Lists, 'spans'>,
  projectId: string,
  asked: AskedSpans,
  { limit, behind }: SpanWindow,
  signal: AbortSignal,
): Promise<ListedSpan[]> {
  const found: ListedSpan[] = [];
  for (const ids of idsOf(asked)) {
    const filters = [...filtersOf(asked), ...ids];
    const query = queryFor(spanList, { filters, tags: { project: asked.project }, limit, offset: 0, behind });
    found.push(...(await rowsOf(await lists.spans(projectId, query, signal))));
    if (found.length >= limit) break;
  }
  return found.slice(0, limit);
}

/** Whether a request names what it asks for: then there is one page. */
export const namesIds = ({ span_id, trace_id }: Selection): boolean => span_id !== undefined || trace_id !== undefined;

/** The filters of one read after the other, by ids; without ids, one read without a filter. */
function idsOf({ span_id, trace_id }: Selection): (AppliedFilter | null)[][] {
  const [parameter, ids] = span_id !== undefined ? ['id', span_id] : ['trace_id', trace_id ?? []];
  return ids.length === 0 ? [[]] : ids.map((id) => [filterBy(spanList, parameter, uuidOf(id))]);
}

function filtersOf(asked: Selection): (AppliedFilter | null)[] {
  const parent = asked.parent_id === 'null' ? null : asked.parent_id;
  const end = timeOf('end_time', asked.end_time);
  return [
    filterBy(spanList, 'started_after', timeOf('start_time', asked.start_time)),
    filterBy(spanList, 'started_before', end === undefined ? undefined : end - 1),
    filterBy(spanList, 'parent_span_id', typeof parent === 'string' ? uuidOf(parent) : parent),
    severalBy('names', asked.name),
    filterBy(spanList, 'span_kind', kindOf(asked.span_kind?.[0])),
    filterBy(spanList, 'has_error', hasError(asked.status_code)),
  ];
}

function severalBy(parameter: string, values: readonly FilterValue[] | undefined): AppliedFilter | null {
  const filter = filterBy(spanList, parameter, values?.[0]);
  return filter === null || values === undefined ? null : { ...filter, values };
}

const kindOf = (kind: string | undefined) => (kind === 'UNKNOWN' ? 'generic' : kind?.toLowerCase());

function hasError(codes: readonly string[] | undefined): boolean | undefined {
  if (codes === undefined) return undefined;
  const errors = codes.filter((code) => code.toUpperCase() === 'ERROR').length;
  return errors > 0 && errors < codes.length ? undefined : errors > 0;
}
