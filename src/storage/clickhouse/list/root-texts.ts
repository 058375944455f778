import { join, sql, value, type Sql } from '../client/sql.js';
import type { JsonLine } from '../read/json-rows.js';
import { inProject } from '../read/scope.js';

/** A trace as a rendered object, and where its root span lies. */
interface TraceRow {
  readonly row: string;
  readonly root_ver: string;
  readonly root_started_at: string;
}

interface Root {
  readonly input_data: string | null;
  readonly output_data: string | null;
}

/** Reads the rows of a statement for root spans. */
type ReadRoots = (statement: Sql) => Promise<(Root & { readonly ver: string })[]>;

/** Columns that a page of traces selects beside its fields, for {@link withRootTexts}. */
export const rootColumns: readonly Sql[] = [sql`root_ver`, sql`toString(root_started_at)`];

/** Traces as rendered objects, with input and output of their root spans. @param fields those asked for; null: all */
export async function withRootTexts(
  projectId: string,
  lines: readonly JsonLine[],
  fields: readonly string[] | null,
  read: ReadRoots,
): Promise<string[]> {
  const wanted = fields === null || fields.some((name) => name.startsWith('root_span_'));
  if (!wanted) return lines.map(({ row }) => row);
  const rows = lines.map(toTraceRow);
  const roots = await rootsOf(
    projectId,
    rows.filter(({ root_ver }) => root_ver !== '0'),
    read,
  );
  return rows.map(({ row, root_ver }) => {
    const root = roots.get(root_ver);
    return root === undefined ? row : withRoot(row, root, fields);
  });
}

function toTraceRow({ row, extra: [root_ver = '0', root_started_at = ''] }: JsonLine): TraceRow {
  return { row, root_ver, root_started_at };
}

async function rootsOf(projectId: string, rows: readonly TraceRow[], read: ReadRoots): Promise<Map<string, Root>> {
  if (rows.length === 0) return new Map();
  const times = join(
    rows.map(({ root_started_at }) => sql`${value(root_started_at, 'String')}`),
    ', ',
  );
  const versions = rows.map(({ root_ver }) => Number(root_ver));
  const roots = await read(
    sql`SELECT toString(ver) AS ver, input_data, output_data FROM spans
WHERE ${inProject(projectId)} AND started_at IN (${times}) AND ver IN ${value(versions, 'Array(UInt64)')}`,
  );
  return new Map(roots.map((root) => [root.ver, root]));
}

/**
 * The object was rendered with nulls in place of what its root span holds. They are replaced in the text, because a
 * JavaScript number would not keep every decimal of a cost; attributes, which may hold anything, come after them.
 */
function withRoot(row: string, root: Root, fields: readonly string[] | null): string {
  const values = { root_span_input: root.input_data, root_span_output: root.output_data };
  return Object.entries(values).reduce(
    (text, [name, value]) =>
      fields && !fields.includes(name)
        ? text
        : text.replace(`"${name}":null`, () => `"${name}":${JSON.stringify(value)}`),
    row,
  );
}
