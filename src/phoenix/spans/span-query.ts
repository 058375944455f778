import { Type, type Static, type TObject } from '@sinclair/typebox';
import { ID, ID_DESCRIPTION, uuidOf } from '../../engine/schema/ids.js';
import { spanList } from '../../engine/traces/model/list/definitions.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import type { AppliedFilter, FilterValue } from '../../engine/traces/model/list/query.js';
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

export interface Window {
  readonly limit: number;
  readonly offset: number;
}

/** Spans of a page, newest first. Of ids, the first so many of each. @throws DomainError `invalid`, `too_large` */
export async function spansAsked(
  lists: Pick<Lists, 'spans'>,
  projectId: string,
  asked: AskedSpans,
  window: Window,
  signal: AbortSignal,
): Promise<ListedSpan[]> {
  const found: ListedSpan[] = [];
  for (const ids of idsOf(asked)) {
    const filters = [...filtersOf(asked), ...ids];
    const query = queryFor(spanList, { filters, tags: { project: asked.project }, ...window });
    found.push(...(await rowsOf(await lists.spans(projectId, query, signal))));
    if (found.length >= window.limit) break;
  }
  return found.slice(0, window.limit);
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
