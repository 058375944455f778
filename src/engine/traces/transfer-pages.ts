import { DomainError } from '../errors.js';
import { UUID } from '../schema/ids.js';
import { spanFields, type Field } from './model/list/fields.js';
import { type PageOf, type RecordPage, PAGE_BYTES } from './model/transfer/record-page.js';
import { identifier, sql, value, type Sql } from './clickhouse/client/sql.js';
import type { Version } from './write/version-clock.js';
import { momentOf, spanColumns } from './list/columns.js';
import { jsonLines } from './read/json-rows.js';
import type { ReadsInProgress } from './read/reads-in-progress.js';
import type { Reader } from './read/row-reader.js';
import { inProject, type ReadScope } from './read/scope.js';
import { moment } from './read/times.js';
import { current, written } from './read/visibility.js';

export interface RecordReads {
  readonly reader: Reader;
  readonly reads: ReadsInProgress;
}

const { project_id: _project, has_error: _error, ...stored } = spanFields;
const kept = { description: '', nullable: false } as const;
const recordFields = {
  ...stored,
  cost_calculated: { ...kept, type: 'boolean' },
  written_at: { ...kept, type: 'time' },
} satisfies Record<string, Field>;
const recordColumns = { ...spanColumns, cost_calculated: sql`cost_calculated`, written_at: momentOf(written) };

/** Where a page begins, and how far behind it the next versions are looked for. */
interface Cursor {
  readonly since: Version;
  readonly width: number;
}

interface Place {
  readonly version: string;
  readonly started: string;
  readonly bytes: string;
}

/**
 * What is looked through for one page is bounded by versions: a page would otherwise look at every span behind it, and an
 * export of millions at each of them thousands of times. Pages tell the next one how far apart their spans were.
 */
const FIRST_WIDTH = 10_000_000;
const WIDER = 4;
const WIDEST = 1e15;
/** Beyond what a page took, so that most pages are full. */
const SPARE = 1.5;

/** Spans in the order in which they were stored. */
export async function spanPage({ reader, reads }: RecordReads, of: PageOf): Promise<RecordPage<string>> {
  const { projectId, limit } = of;
  const { since, width } = cursorOf(of.after);
  const wanted = { figures: false, traces: null };
  return reads.ofCommitted(projectId, wanted, async ({ upTo, traces: unsettled }) => {
    const look = async (from: Version) => {
      const scope = { projectId, upTo, unsettled, since: from };
      const end = Math.min(upTo, from + width);
      return { scope, end, found: await reader.rows<Place>(nextPlaces(scope, end, limit)) };
    };
    let window = await look(since);
    if (window.found.length === 0) {
      const first = await firstBehind(reader, { ...window.scope, since: window.end });
      if (first === null) return { records: [], next: of.after, more: false };
      window = await look(first - 1);
    }
    const { scope, end, found } = window;
    const places = fitting(found.slice(0, limit));
    const last = Number(places.at(-1)?.version);
    const isFull = found.length > places.length;
    const next = isFull
      ? cursorText(last, Math.max(limit, Math.ceil((last - scope.since) * SPARE)))
      : cursorText(end, width * WIDER);
    const records = places.length === 0 ? [] : await spansAt(reader, scope, places);
    return { records, next, more: isFull || end < upTo };
  });
}

type Behind = ReadScope & { readonly since: Version };

/** The first version behind one, whether it counts or not; null: there is none. */
async function firstBehind(reader: Reader, { projectId, upTo, since }: Behind): Promise<Version | null> {
  const [row] = await reader.rows<{ version: string }>(sql`SELECT toString(min(ver)) AS version FROM spans
WHERE ${inProject(projectId)} AND ver > ${value(since, 'UInt64')} AND ver <= ${value(upTo, 'UInt64')}`);
  return row === undefined || row.version === '0' ? null : Number(row.version);
}

/** The spans up to a version: of all there are, nothing but versions and sizes is read. */
function nextPlaces(scope: Behind, end: Version, limit: number): Sql {
  return sql`SELECT toString(ver) AS version, toString(toUnixTimestamp64Micro(started_at)) AS started,
  toString(length(payload) + length(attributes) + length(ifNull(error_stack, '')) + 1000) AS bytes
FROM spans
WHERE ${inProject(scope.projectId)} AND ver <= ${value(end, 'UInt64')} AND ${current(scope)}
ORDER BY ver LIMIT 1 BY ver LIMIT ${value(limit + 1, 'UInt64')}`;
}

async function spansAt(reader: Reader, scope: Behind, places: readonly Place[]): Promise<string[]> {
  const { selected, format } = jsonLines(recordFields, Object.keys(recordFields), recordColumns, [sql`ver`]);
  const times = places.map(({ started }) => Number(started));
  const lines = await reader.lines(sql`SELECT ${selected}
FROM spans
WHERE ${inProject(scope.projectId)} AND ver <= ${value(Number(places.at(-1)?.version), 'UInt64')} AND ${current(scope)}
  AND started_at >= ${moment(least(times))} AND started_at <= ${moment(most(times))}
ORDER BY ver
${format}`);
  // A row may be there twice.
  return lines.flatMap(({ row, extra: [version] }, index) => (lines[index - 1]?.extra[0] === version ? [] : [row]));
}

/** As many as fit into a page, and at least one. */
export function fitting<T extends Pick<Place, 'bytes'>>(places: readonly T[]): readonly T[] {
  let sum = 0;
  const end = places.findIndex(({ bytes }, index) => (sum += Number(bytes)) > PAGE_BYTES && index > 0);
  return end === -1 ? places : places.slice(0, end);
}

const least = (numbers: readonly number[]) => numbers.reduce((one, other) => Math.min(one, other), Infinity);
const most = (numbers: readonly number[]) => numbers.reduce((one, other) => Math.max(one, other), -Infinity);

function cursorOf(after: string | null): Cursor {
  if (after === null) return { since: 0, width: FIRST_WIDTH };
  const [since, width = FIRST_WIDTH] = /^\d{1,16}(-\d{1,16})?$/.test(after) ? after.split('-').map(Number) : [];
  if (since !== undefined && Number.isSafeInteger(since) && Number.isSafeInteger(width)) return { since, width };
  throw notACursor();
}

function cursorText(since: Version, width: number): string {
  return `${since}-${Math.min(width, WIDEST)}`;
}

export function notACursor(): DomainError {
  const detail = 'must be the `next` of an earlier page of this part';
  return new DomainError('invalid', `after ${detail}`, { issues: [{ pointer: '?after', detail }] });
}

/** What was posted, by what it is about: a table, the column of its ids, and what the records are made of. */
export interface PostedSource {
  readonly table: Sql;
  readonly id: Sql;
  readonly condition: Sql;
  readonly fields: Readonly<Record<string, Field>>;
  readonly columns: Readonly<Record<string, Sql>>;
}

const named = (...names: readonly string[]) => Object.fromEntries(names.map((name) => [name, identifier(name)]));
const field = (type: Field['type'], nullable = false): Field => ({ type, nullable, description: '' });

export const postedTraces: PostedSource = {
  table: sql`facts`,
  id: sql`trace_id`,
  condition: sql` AND row_type > 0`,
  fields: {
    id: field('id'),
    session_id: field('id'),
    name: field('text'),
    status: field('status', true),
    started_at: field('time'),
    ended_at: field('time', true),
    duration_ms: field('number', true),
    cost: field('money', true),
    attributes: field('json'),
    tags: field('tags'),
  },
  columns: {
    ...named('session_id', 'name', 'started_at', 'ended_at', 'duration_ms', 'cost', 'attributes'),
    id: sql`trace_id`,
    status: sql`nullIf(status, '')`,
    tags: sql`trace_tags`,
  },
};

export const postedSessions: PostedSource = {
  table: sql`session_statements`,
  id: sql`session_id`,
  condition: sql``,
  fields: { id: field('id'), name: field('text', true), attributes: field('json'), tags: field('tags') },
  columns: { ...named('attributes', 'tags'), id: sql`session_id`, name: sql`nullIf(name, '')` },
};

/** What was last posted about each trace or session, in the order of the store. */
export async function postedPage(
  { reader, reads }: RecordReads,
  { table, id, condition, fields, columns }: PostedSource,
  { projectId, after, limit }: PageOf,
): Promise<RecordPage<string>> {
  if (after !== null && !UUID.test(after)) throw notACursor();
  const behind = after === null ? sql`` : sql` AND ${id} > ${value(after, 'UUID')}`;
  const { selected, format } = jsonLines(fields, Object.keys(fields), columns, [sql`deleted`]);
  return reads.ofCommitted(projectId, { figures: false, traces: null }, async ({ upTo }) => {
    const those = sql`${inProject(projectId)} AND ver <= ${value(upTo, 'UInt64')}${condition}${behind}`;
    const found = await reader.rows<{ readonly id: string; readonly bytes: string }>(
      sql`SELECT toString(${id}) AS id, toString(length(attributes) + 1000) AS bytes
FROM ${table} WHERE ${those} ORDER BY ${id}, ver DESC LIMIT 1 BY ${id} LIMIT ${value(limit + 1, 'UInt64')}`,
    );
    const page = fitting(found.slice(0, limit));
    const last = page.at(-1)?.id;
    if (last === undefined) return { records: [], next: after, more: false };
    const lines = await reader.lines(sql`SELECT ${selected}
FROM ${table} WHERE ${those} AND ${id} <= ${value(last, 'UUID')} ORDER BY ${id}, ver DESC LIMIT 1 BY ${id}
${format}`);
    const records = lines.flatMap(({ row, extra: [deleted] }) => (deleted === '1' ? [] : [row]));
    return { records, next: last, more: found.length > page.length };
  });
}
