import { LISTS, pageOf, pageQuery } from './list-query.js';
import { changed } from './place.js';

/** The list that a trace or span was opened from, as the parameter `list` says it: `traces?status=error&range=7d`. */
export interface OpenedFrom {
  readonly name: 'traces' | 'spans';
  readonly query: URLSearchParams;
}

/** A row of a list, as far as its neighbours need it. */
export interface ListedRow {
  readonly id: string;
  /** Of a span. */
  readonly trace_id?: string;
}

export interface Neighbours {
  /** From 1, in the whole list; null: what is shown is not there anymore. */
  readonly place: number | null;
  readonly previous: ListedRow | null;
  readonly next: ListedRow | null;
}

/** Rows looked at around the page that was left: lists grow at their head meanwhile. */
const LOOKED_AT = 500;
const BEFORE = 100;

/** Null: the text names no list of traces or spans. */
export function openedFrom(list: string | null): OpenedFrom | null {
  const [, name, query = ''] = /^(traces|spans)(?:\?(.*))?$/s.exec(list ?? '') ?? [];
  return name === undefined ? null : { name: name as OpenedFrom['name'], query: new URLSearchParams(query) };
}

/** The call that answers the rows around what was opened, and the place of the first of them. */
export function rowsAround({ name, query }: OpenedFrom): { readonly first: number; readonly asked: URLSearchParams } {
  const list = LISTS[name];
  const first = Math.max(0, pageOf(list, query).offset - BEFORE);
  const around = changed(query, { offset: String(first), limit: String(LOOKED_AT) });
  const fields = name === 'spans' ? 'id,trace_id' : 'id';
  return { first, asked: changed(pageQuery(list, around), { fields }) };
}

/** Where a trace, or a span of it, is among the rows from `first` on. */
export function neighboursOf(
  rows: readonly ListedRow[],
  first: number,
  { trace, span }: { readonly trace: string; readonly span: string | null },
): Neighbours {
  const at = rows.findIndex(({ id, trace_id }) =>
    trace_id === undefined ? id === trace : trace_id === trace && (span === null || id === span),
  );
  if (at < 0) return { place: null, previous: null, next: null };
  return { place: first + at + 1, previous: rows[at - 1] ?? null, next: rows[at + 1] ?? null };
}
