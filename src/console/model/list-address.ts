import { joinValues } from '../../engine/traces/model/list/comma-values.js';
import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';
import type { SavedViewRead } from '../../features/saved-views/schema.js';
import { columnsOf } from './list-columns.js';
import { OWN, pageOf, selectionOf } from './list-query.js';
import { changed } from './place.js';
import { boundsOf, type TimeRange } from './range.js';

/* Lists in parameters of the API alone, as saved views and charts keep them, and as the console's addresses have them. */

const AFTER = 'started_after';
const BEFORE = 'started_before';
const LENGTH = /^\d+[smhdw]$/;
const ALL: TimeRange = { range: 'all', from: null, to: null };

/** What a saved view keeps of a list: filters with its time, order, and columns where they are not the usual ones. */
export function viewOf(list: ListDefinition, query: URLSearchParams, columns: readonly string[]) {
  const { sort, descending } = pageOf(list, query);
  const kept = selectionOf(query);
  if (sort !== list.defaultSort) kept.set('sort_by', sort);
  if (!descending) kept.set('sort_order', 'asc');
  const isUsual = joinValues(columns) === joinValues(columnsOf(list, null));
  return { list: list.name, query: kept.toString(), columns: isUsual ? null : [...columns] };
}

/** The filters of a list without its time, as a chart keeps them. */
export function filtersOf(query: URLSearchParams): string {
  const kept = selectionOf(query);
  for (const name of [AFTER, BEFORE]) kept.delete(name);
  return kept.toString();
}

/** The parameters of the address of a list with filters, of a time. */
export function addressWith(filters: string, range: TimeRange): URLSearchParams {
  return ofTime(inAddress(new URLSearchParams(filters)), range);
}

/** The parameters of the address that shows a view. */
export function addressOfView({
  id,
  query,
  columns,
}: Pick<SavedViewRead, 'id' | 'query' | 'columns'>): URLSearchParams {
  const sent = new URLSearchParams(query);
  const range = rangeIn(sent);
  if (range !== null) for (const name of [AFTER, BEFORE]) sent.delete(name);
  const address = range === null ? inAddress(sent) : ofTime(inAddress(sent), range);
  if (columns !== null) address.set('columns', joinValues(columns));
  address.set('view', id);
  return address;
}

/** The time that a query of the API asks for; null: one that the console shows as filters. */
function rangeIn(query: URLSearchParams): TimeRange | null {
  const [from, to] = [query.get(AFTER), query.get(BEFORE)];
  if (from === null && to === null) return ALL;
  if (from !== null && to === null && LENGTH.test(from)) return { range: from, from: null, to: null };
  const isMoment = (time: string | null) => time === null || !Number.isNaN(Date.parse(time));
  return isMoment(from) && isMoment(to) ? { range: null, from, to } : null;
}

function ofTime(address: URLSearchParams, { range, from, to }: TimeRange): URLSearchParams {
  return changed(address, { range, from, to });
}

/** A query of the API in the console's address: tags that are called as the console's own parameters are written so that they stay tags. */
function inAddress(query: URLSearchParams): URLSearchParams {
  const address = new URLSearchParams();
  for (const [name, value] of query) address.append(OWN.has(name) ? `tags.${name}` : name, value);
  return address;
}

/** The parameters of the API that bound filters to a time. */
export function askedWithin(filters: string, range: TimeRange): URLSearchParams {
  const asked = new URLSearchParams(filters);
  for (const [name, value] of Object.entries(boundsOf(range))) asked.set(name, value);
  return asked;
}
