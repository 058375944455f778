import type { Micros } from '../../../engine/timestamp.js';
import type { StoredRecord } from '../metadata-transfer.js';
import { type PageOf, type RecordPage, PAGE_BYTES } from '../../../engine/traces/model/transfer/record-page.js';
import type { MetadataPart } from '../parts.js';
import type { Database } from '../../../engine/metadata/database.js';
import { readCursor, writeCursor, type CursorValue } from './transfer-cursor.js';
import type { Source } from './source.js';
import { GROUPS, SOURCES } from './transfer-sources.js';

type Row = Readonly<Record<string, unknown>>;
type ReadPage = (asOf: Micros, of: PageOf) => RecordPage<StoredRecord>;

interface Group {
  readonly id: string;
  readonly position: string;
}

/** Groups that one page looks into: a few milliseconds of work, also where they are empty. */
const GROUPS_PER_PAGE = 200;

/** Rows that one page looks at, also where hardly any of them was there by then. */
const ROWS_PER_PAGE = 2_000;

/** Prepares the reads of a part's pages. */
export function recordPages(db: Database, part: MetadataPart): ReadPage {
  const source = SOURCES[part];
  const { by, keys } = source;
  const groups = by === 'project' ? null : { next: prepared(db, by, '>'), here: prepared(db, by, '>=') };
  const rows = rowsOf(db, source);
  const groupAt = (projectId: string, position: string, past: 'next' | 'here'): Group | undefined => {
    if (groups !== null) return groups[past].get(projectId, position);
    return past === 'here' ? { id: projectId, position: '' } : undefined;
  };

  return (asOf, { projectId, after, limit }) => {
    const records: StoredRecord[] = [];
    // A cursor without keys: all of that group is done.
    const [position = '', ...key] = after === null ? [''] : readCursor(after, [1, 1 + keys.length]);
    let last: readonly CursorValue[] | null = after === null ? null : [position, ...key];
    let behind: readonly CursorValue[] | null = key.length === 0 ? null : key;
    let bytes = 0;
    let looked = 0;
    const isDone = after !== null && behind === null;
    let group = groupAt(projectId, String(position), isDone ? 'next' : 'here');
    const page = (more: boolean) => ({ records, next: last === null ? null : writeCursor(last), more });
    for (let visited = 0; group !== undefined; visited += 1) {
      if (visited === GROUPS_PER_PAGE) return page(true);
      if (group.position !== position) behind = null;
      for (const row of rows({ group: group.id, asOf }, behind)) {
        if (records.length === limit || looked === ROWS_PER_PAGE || bytes > PAGE_BYTES) return page(true);
        looked += 1;
        bytes += bytesOf(row);
        if (row['counts'] === 1) records.push(toRecord(row, source));
        last = [group.position, ...keys.map((_key, index) => row[`key${index}`] as CursorValue)];
      }
      last = [group.position];
      behind = null;
      group = groupAt(projectId, group.position, 'next');
    }
    return page(false);
  };
}

function prepared(db: Database, by: keyof typeof GROUPS, past: '>' | '>=') {
  return db.prepare<[string, string], Group>(GROUPS[by](past));
}

/** The rows of a group, from its beginning or behind a key. */
function rowsOf(db: Database, { select, from, where, until = '1', keys }: Source) {
  const shown = [select, `(${until}) AS counts`, ...keys.map((key, index) => `${key} AS key${index}`)].join(', ');
  const statement = (condition: string) =>
    db.prepare<object, Row>(`SELECT ${shown} FROM ${from} WHERE ${where}${condition} ORDER BY ${keys.join(', ')}`);
  const all = statement('');
  const rest = statement(` AND (${keys.join(', ')}) > (${keys.map((_key, index) => `@key${index}`).join(', ')})`);
  return (values: { group: string; asOf: Micros }, behind: readonly CursorValue[] | null) =>
    behind === null
      ? all.iterate(values)
      : rest.iterate({ ...values, ...Object.fromEntries(behind.map((value, index) => [`key${index}`, value])) });
}

function toRecord(row: Row, { json, flags }: Source): StoredRecord {
  const fields = Object.entries(row).filter(([name]) => !/^(key\d|counts)$/.test(name));
  return Object.fromEntries(
    fields.map(([name, value]) => {
      if (json.includes(name) && typeof value === 'string') return [name, JSON.parse(value) as unknown];
      return [name, flags.includes(name) ? value === 1 : value];
    }),
  );
}

function bytesOf(row: Row): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
}
