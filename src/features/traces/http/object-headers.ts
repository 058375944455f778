import type { ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import type { ListQuery } from '../../../engine/traces/model/list/query.js';
import { NAMES_HEADERS, namesHeader, TAG_FILTERS } from '../../../http/names-header.js';

/* Headers of every answer about the objects of a list. */

/** Meaning of the headers `X-Not-Current` and `X-Not-Current-Count`, by list. */
export const NOT_CURRENT: Readonly<Record<ListDefinition['name'], string>> = {
  spans:
    'While the project has traces that are too large for ClickHouse to exclude replaced versions of their spans ' +
    'from this list, `X-Not-Current-Count` has the number of such traces, and `X-Not-Current` has up to 100 of ' +
    'their ids.',
  traces:
    'While the project has traces that are too large to be recomputed with the available memory, ' +
    '`X-Not-Current-Count` has their number, and `X-Not-Current` has up to 100 of their ids. They lack tags from ' +
    '`trace_tags`, so that filters by these do not find them, and in the worst case their counts, costs and ' +
    'durations miss recent writes.',
  sessions:
    'While the project has sessions that are too large to be recomputed with the available memory, or sessions ' +
    'with such traces, `X-Not-Current-Count` has their number, and `X-Not-Current` has up to 100 of their ids. ' +
    'They may lack tags of their spans, and in the worst case their counts, costs and durations miss recent ' +
    'writes.',
};

/** Ids that one header names. */
const MAX_NAMED = 100;

export const NOT_CURRENT_HEADERS = {
  'X-Not-Current': `Ids of objects that may lack recent writes, up to ${MAX_NAMED}. Absent: there are none.`,
  'X-Not-Current-Count': 'Number of these objects.',
};

export const OBJECT_HEADERS = { [TAG_FILTERS]: NAMES_HEADERS[TAG_FILTERS], ...NOT_CURRENT_HEADERS };

/** @param notCurrent ids of what may lack recent writes */
export function objectHeaders({ tags }: ListQuery, notCurrent: readonly string[]): Record<string, string> {
  return {
    ...(tags.size > 0 && { [TAG_FILTERS]: namesHeader([...tags.keys()]) }),
    ...notCurrentHeaders(notCurrent),
  };
}

export function notCurrentHeaders(ids: readonly string[]): Record<string, string> {
  if (ids.length === 0) return {};
  return { 'X-Not-Current': ids.slice(0, MAX_NAMED).join(', '), 'X-Not-Current-Count': String(ids.length) };
}
