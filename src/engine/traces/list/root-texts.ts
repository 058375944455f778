import type { ListQuery } from '../model/list/query.js';
import { identifier, join, sql, value, type Sql } from '../clickhouse/client/sql.js';
import { excerpt } from '../read/excerpt.js';
import type { JsonLine } from '../read/json-rows.js';
import { inProject } from '../read/scope.js';

/** A trace as a rendered object, and where its root span lies. */
interface TraceRow {
  readonly row: string;
  readonly root_ver: string;
  readonly root_started_at: string;
}

/** What a trace has of its root span, by its own name, as far as it was asked for. */
type Root = Readonly<Partial<Record<RootText, string | null>>>;

const ROOT_TEXTS = {
  root_span_input: sql`input_data`,
  root_span_output: sql`output_data`,
  root_span_error: sql`coalesce(nullIf(error_message, ''), nullIf(error_code, ''))`,
} as const;
type RootText = keyof typeof ROOT_TEXTS;

/** Reads the rows of a statement for root spans. */
type ReadRoots = (statement: Sql) => Promise<(Root & { readonly ver: string })[]>;

/** Columns that a page of traces selects beside its fields, for {@link withRootTexts}. */
export const rootColumns: readonly Sql[] = [sql`root_ver`, sql`toString(root_started_at)`];

/** Traces as rendered objects, with input, output and error of their root spans. */
export async function withRootTexts(
  projectId: string,
  lines: readonly JsonLine[],
  { fields, textLimit }: Pick<ListQuery, 'fields' | 'textLimit'>,
  read: ReadRoots,
): Promise<string[]> {
  const wanted = Object.entries(ROOT_TEXTS).filter(([name]) => fields?.includes(name) ?? true);
  const rows = lines.map(toTraceRow);
  const withRoots = rows.filter(({ root_ver }) => root_ver !== '0');
  if (wanted.length === 0 || withRoots.length === 0) return rows.map(({ row }) => row);
  const texts = wanted.map(([name, column]) => {
    const text = textLimit === null ? column : excerpt(column, textLimit);
    return sql`${text} AS ${identifier(name)}`;
  });
  const roots = new Map((await read(rootsOf(projectId, withRoots, texts))).map(({ ver, ...root }) => [ver, root]));
  return rows.map(({ row, root_ver }) => withRoot(row, roots.get(root_ver) ?? {}));
}

function toTraceRow({ row, extra: [root_ver = '0', root_started_at = ''] }: JsonLine): TraceRow {
  return { row, root_ver, root_started_at };
}

function rootsOf(projectId: string, rows: readonly TraceRow[], texts: readonly Sql[]): Sql {
  const times = join(
    rows.map(({ root_started_at }) => sql`${value(root_started_at, 'String')}`),
    ', ',
  );
  const versions = rows.map(({ root_ver }) => Number(root_ver));
  return sql`SELECT toString(ver) AS ver, ${join(texts, ', ')} FROM spans
WHERE ${inProject(projectId)} AND started_at IN (${times}) AND ver IN ${value(versions, 'Array(UInt64)')}`;
}

/**
 * The object was rendered with nulls in place of what its root span holds. They are replaced in the text, because a
 * JavaScript number would not keep every decimal of a cost; attributes, which may hold anything, come after them.
 */
function withRoot(row: string, root: Root): string {
  return Object.entries(root).reduce(
    (text, [name, value]) => text.replace(`"${name}":null`, () => `"${name}":${JSON.stringify(value)}`),
    row,
  );
}
