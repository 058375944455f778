import { DomainError } from '../../domain/errors.js';
import { spanFields, type Field } from '../../domain/list/fields.js';
import type { PageOf, RecordPage } from '../../domain/transfer/metadata-transfer.js';
import { PAGE_BYTES } from '../../domain/transfer/parts.js';
import { roughBytes } from './calculated-span-rows.js';
import { identifier, sql, value, type Sql } from './client/sql.js';
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

interface Place {
  readonly version: string;
  readonly started: string;
}

/** Spans in the order in which they were stored. */
export async function spanPage({ reader, reads }: RecordReads, of: PageOf): Promise<RecordPage<string>> {
  const since = of.after === null ? 0 : versionOfCursor(of.after);
  const wanted = { figures: false, traces: null };
  return reads.ofCommitted(of.projectId, wanted, async ({ upTo, traces: unsettled }) => {
    const found = await reader.rows<Place>(nextPlaces({ projectId: of.projectId, upTo, since, unsettled }, of.limit));
    const places = await fitting(reader, of.projectId, found.slice(0, of.limit));
    const records = places.length === 0 ? [] : await spansAt(reader, of.projectId, places);
    return { records, next: places.at(-1)?.version ?? of.after, more: found.length > places.length };
  });
}

/** The spans behind a version: of all there are, nothing but versions is read. */
function nextPlaces(scope: ReadScope & { readonly since: number }, limit: number): Sql {
  return sql`SELECT toString(ver) AS version, toString(toUnixTimestamp64Micro(started_at)) AS started
FROM spans
WHERE ${inProject(scope.projectId)} AND ver > ${value(scope.since, 'UInt64')} AND ${current(scope)}
ORDER BY ver LIMIT ${value(limit + 1, 'UInt64')}`;
}

async function spansAt(reader: Reader, projectId: string, places: readonly Place[]): Promise<string[]> {
  const { selected, format } = jsonLines(recordFields, Object.keys(recordFields), recordColumns, [sql`ver`]);
  const lines = await reader.lines(sql`SELECT ${selected}
FROM spans
WHERE ${at(projectId, places)}
ORDER BY ver
${format}`);
  // A row may be there twice.
  return lines.flatMap(({ row, extra: [version] }, index) => (lines[index - 1]?.extra[0] === version ? [] : [row]));
}

/** As many as fit into a page, and at least one. */
async function fitting(reader: Reader, projectId: string, places: readonly Place[]): Promise<readonly Place[]> {
  if (places.length === 0) return [];
  const sizes = await reader.rows<{ size: string }>(
    sql`SELECT toString(${roughBytes}) AS size FROM spans WHERE ${at(projectId, places)} ORDER BY ver LIMIT 1 BY ver`,
  );
  let bytes = 0;
  const end = sizes.findIndex(({ size }, index) => (bytes += Number(size)) > PAGE_BYTES && index > 0);
  return end === -1 ? places : places.slice(0, end);
}

function at(projectId: string, places: readonly Place[]): Sql {
  const times = places.map(({ started }) => Number(started));
  const versions = places.map(({ version }) => Number(version));
  return sql`${inProject(projectId)} AND ver IN ${value(versions, 'Array(UInt64)')}
  AND started_at >= ${moment(Math.min(...times))} AND started_at <= ${moment(Math.max(...times))}`;
}

function versionOfCursor(after: string): number {
  const version = /^\d{1,16}$/.test(after) ? Number(after) : NaN;
  if (Number.isSafeInteger(version)) return version;
  throw notACursor();
}

function notACursor(): DomainError {
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
  condition: sql` AND row_type = 1`,
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

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** What was last posted about each trace or session, in the order of the store. */
export async function postedPage(
  { reader, reads }: RecordReads,
  { table, id, condition, fields, columns }: PostedSource,
  { projectId, after, limit }: PageOf,
): Promise<RecordPage<string>> {
  if (after !== null && !UUID.test(after)) throw notACursor();
  const behind = after === null ? sql`` : sql` AND ${id} > ${value(after, 'UUID')}`;
  const { selected, format } = jsonLines(fields, Object.keys(fields), columns, [sql`toString(${id})`, sql`deleted`]);
  const lines = await reads.ofCommitted(projectId, { figures: false, traces: null }, ({ upTo }) =>
    reader.lines(sql`SELECT ${selected}
FROM ${table}
WHERE ${inProject(projectId)} AND ver <= ${value(upTo, 'UInt64')}${condition}${behind}
ORDER BY ${id}, ver DESC LIMIT 1 BY ${id} LIMIT ${value(limit + 1, 'UInt64')}
${format}`),
  );
  const page = lines.slice(0, limit);
  const records = page.flatMap(({ row, extra: [, deleted] }) => (deleted === '1' ? [] : [row]));
  return { records, next: page.at(-1)?.extra[0] ?? after, more: lines.length > limit };
}
