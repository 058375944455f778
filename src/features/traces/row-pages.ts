import type { Readable } from 'node:stream';
import { parseTimestampText } from '../../engine/timestamp.js';
import type { ListDefinition } from '../../engine/traces/model/list/definitions.js';
import { namedFields, type Field } from '../../engine/traces/model/list/fields.js';
import type { Lists } from '../../engine/traces/model/list/lists.js';
import type { ListQuery } from '../../engine/traces/model/list/query.js';
import { atMost, newestFirst, WALK_KEYS as KEYS } from '../../engine/traces/model/list/walk.js';
import { fittingRows, PAGE_BYTES, type ExportedColumn, type ExportedRows } from '../exports/exported-rows.js';

/** Rows of a page: the newest of long lists are found without a look at the others only up to so many. */
const MAX_ROWS = 1000;
const FIRST_ROWS = 100;
/** Rows of one time that a page reads again. */
const OVERLAP = 100;
/** A page that has far more bytes than it is to is cut. */
const MAX_PAGE_BYTES = 4 * PAGE_BYTES;

/** What an export reads. */
export interface ListedObjects {
  readonly list: ListDefinition;
  readonly projectId: string;
  /** Its order and window mean nothing. */
  readonly query: ListQuery;
}

/** The fields of an export, in the order of the list. Those by which the next page is found are always answered. */
export function exportedFields(list: ListDefinition, { fields }: ListQuery): readonly string[] {
  const all = Object.keys(list.fields);
  if (fields === null) return all;
  const { time, ids } = KEYS[list.name];
  const keys: readonly string[] = [time, ...ids];
  return [
    ...all.filter((name) => keys.includes(name) || fields.includes(name)),
    ...fields.filter((name) => !all.includes(name)),
  ];
}

/** The columns of an export of a list. */
export function listColumns(list: ListDefinition, query: ListQuery): ExportedColumn[] {
  const fields: Readonly<Record<string, Field>> = { ...list.fields, ...namedFields };
  return exportedFields(list, query).map((name) => [name, fields[name]?.type ?? 'text']);
}

/** All objects of a list that a query finds. */
export function listRows(lists: Lists, of: ListedObjects): ExportedRows {
  return {
    columns: listColumns(of.list, of.query),
    pages: (signal) => rowPages(lists, of, signal),
  };
}

/** Objects of one time of which more may follow: how many there were so far, and which were the last of them. */
interface Edge {
  readonly time: string;
  readonly ids: Set<string>;
  count: number;
}

/**
 * All that a query finds, newest first, as JSON objects in pages of some two megabytes. Each page is a read of its own, from
 * where the one before ended: nothing is kept open meanwhile. An object that is there all the time comes exactly once; one that
 * is written or deleted meanwhile may come or not.
 * @throws DomainError `unavailable`
 */
async function* rowPages(
  lists: Lists,
  { list, projectId, query }: ListedObjects,
  signal?: AbortSignal,
): AsyncGenerator<readonly string[]> {
  const fields = exportedFields(list, query);
  let edge: Edge = { time: '', ids: new Set(), count: 0 };
  let limit = FIRST_ROWS;
  let offset = 0;
  for (;;) {
    const filters = atMost(list, query.filters, KEYS[list.name].before, parseTimestampText(edge.time));
    const asked = { ...query, ...newestFirst(list), filters, fields, limit, offset };
    const { json } = await lists[list.name](projectId, asked, signal);
    const { rows: found, bytes, isWhole } = await firstRows(json);
    const rows = unseen(list, found, edge);
    edge = edgeOf(list, rows, edge);
    if (rows.length > 0) yield rows;
    if (isWhole && found.length < limit) return;
    // Of many objects of one time some may be deleted before the next page: it begins with some that are known.
    offset = rows.length > 0 ? Math.max(0, edge.count - OVERLAP) : offset + found.length;
    limit = fittingRows(found.length, bytes, MAX_ROWS);
  }
}

/** Without rows that were on the page before. */
function unseen(list: ListDefinition, rows: readonly string[], { time, ids }: Edge): readonly string[] {
  const others = rows.findIndex((row) => keyOf(list, row).time !== time);
  const same = others === -1 ? rows : rows.slice(0, others);
  return [...same.filter((row) => !ids.has(keyOf(list, row).id)), ...rows.slice(same.length)];
}

/** The objects of the last time of a page, with those of that time before it. */
function edgeOf(list: ListDefinition, rows: readonly string[], before: Edge): Edge {
  const last = rows.at(-1);
  if (last === undefined) return before;
  const { time } = keyOf(list, last);
  const edge: Edge = time === before.time ? before : { time, ids: new Set(), count: 0 };
  const first = rows.findLastIndex((row) => keyOf(list, row).time !== time) + 1;
  for (const row of rows.slice(first)) edge.ids.add(keyOf(list, row).id);
  edge.count += rows.length - first;
  for (const id of edge.ids) if (edge.ids.size > MAX_ROWS) edge.ids.delete(id);
  return edge;
}

function keyOf({ name }: ListDefinition, row: string) {
  const { time, ids } = KEYS[name];
  const of = name === 'sessions' ? parsed(row) : (member: string) => memberBefore(row, member);
  return { time: of(time), id: ids.map(of).join(' ') };
}

function parsed(row: string) {
  const object = JSON.parse(row) as Readonly<Record<string, unknown>>;
  return (member: string) => String(object[member]);
}

/** A member that stands before all objects in a row, whose texts may be long: in a text its quotes would be escaped. */
function memberBefore(row: string, member: string): string {
  const start = row.indexOf(`"${member}":"`) + member.length + 4;
  return row.slice(start, row.indexOf('"', start));
}

/** The rows of a JSON array, as many as fit, and at least one. Rows have no end of a line within. */
async function firstRows(json: Readable | Buffer) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isWhole = true;
  let hasRow = false;
  for await (const chunk of Buffer.isBuffer(json) ? [json] : (json as AsyncIterable<Buffer>)) {
    chunks.push(chunk);
    bytes += chunk.length;
    hasRow ||= chunk.includes('\n');
    isWhole = Buffer.isBuffer(json) || bytes <= MAX_PAGE_BYTES || !hasRow;
    // Leaving the loop ends the statement.
    if (!isWhole) break;
  }
  const text = Buffer.concat(chunks).toString();
  const rows = text.slice(1, isWhole ? -1 : text.lastIndexOf(',\n')).split(',\n');
  return { rows: rows[0] === '' ? [] : rows, bytes, isWhole };
}
