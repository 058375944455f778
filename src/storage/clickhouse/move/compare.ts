import { DomainError } from '../../../domain/errors.js';
import type { ClickHouseClient } from '../client/client.js';
import { identifier, join, literal, number, sql, type Sql } from '../client/sql.js';
import type { Version } from '../commit/version-clock.js';
import { fingerprint, ofProject, portionEnd, storedColumns, within, type Portion } from './portions.js';
import { ROLLED_UP, WRITTEN, type MovedTable } from './moved-tables.js';

/** Rows whose figures are compared at once. */
const ROWS = 500_000;
/** Says in which round sessions were computed, which differs and is no figure. */
const NO_FIGURES: ReadonlySet<string> = new Set(['round']);

type Figures = Readonly<Record<string, string>>;

/** What a list shows, with how its figures are read. */
interface Compared {
  readonly list: string;
  readonly table: MovedTable;
  readonly figures: (client: ClickHouseClient, portion: Portion, upTo: Version) => Promise<Figures>;
}

/**
 * Compares what all lists show of a project in two places, in which everything is rolled up: counts, sums, and each row by
 * its hash.
 * @throws DomainError `conflict` with what differs
 */
export async function demandSameLists(
  source: ClickHouseClient,
  target: ClickHouseClient,
  project: string,
  upTo: Version,
): Promise<void> {
  for (const { list, table, figures } of COMPARED) {
    const extent = ofProject(table, project, null);
    let from: string | null = null;
    do {
      const to: string | null = await portionEnd(source, extent, from, ROWS);
      // Behind the last row of the one, the other must have none either.
      const portion: Portion = { ...extent, from, to };
      const [is, should] = await Promise.all([figures(target, portion, upTo), figures(source, portion, upTo)]);
      demandSame(list, project, is, should);
      from = to;
    } while (from !== null);
  }
}

function demandSame(list: string, project: string, is: Figures, should: Figures): void {
  const different = Object.keys(should).filter((name) => is[name] !== should[name]);
  if (different.length === 0) return;
  const each = different.map((name) => `${name} ${is[name]} instead of ${should[name]}`).join(', ');
  throw new DomainError(
    'conflict',
    `The moved ${list} of project ${project} differ: ${each}. Nothing was changed; the server goes on with the spans as they ` +
      'are. Remove the target, run the move again, and report this if it comes back',
  );
}

const table = (name: string) => [...WRITTEN, ...ROLLED_UP].find((each) => each.name === name) as MovedTable;

const COMPARED: readonly Compared[] = [
  { list: 'spans', table: table('spans'), figures: spanFigures },
  { list: 'traces', table: table('traces'), figures: (client, portion) => rowFigures(client, portion, 'trace') },
  { list: 'sessions', table: table('sessions'), figures: (client, portion) => rowFigures(client, portion, 'session') },
  {
    list: 'traces of sessions',
    table: table('session_traces'),
    figures: async (client, portion) => summary(client, portion, [], asideSessions(portion)),
  },
];

async function spanFigures(client: ClickHouseClient, portion: Portion, upTo: Version): Promise<Figures> {
  const sums = ['cost', 'input_tokens', 'output_tokens', 'has_error'];
  const [row] = await client.query<Figures>(
    sql`SELECT toString(count()) AS count, ${totals(sums)}, ${duration},
      ${fingerprint(['ver', 'trace_id', 'id', 'cost', 'duration_ms', 'input_tokens', 'output_tokens', 'has_error'])} AS rows
     FROM spans WHERE ${within(portion)} AND ver <= ${number(upTo)}
       AND ver NOT IN (SELECT ver FROM superseded WHERE project_id = ${literal(portion.project ?? '')} AND next_ver <= ${number(upTo)})`,
  );
  return row ?? {};
}

async function rowFigures(client: ClickHouseClient, portion: Portion, kind: 'trace' | 'session'): Promise<Figures> {
  const sums = ['cost', 'input_tokens', 'output_tokens', 'error_count'];
  const counted = kind === 'trace' ? ['span_count'] : ['trace_count'];
  return {
    ...(await summary(client, portion, [...sums, ...counted], sql`NOT gone AND id NOT IN (${aside(portion, kind)})`)),
    ...(await unlisted(client, portion, kind)),
  };
}

async function summary(
  client: ClickHouseClient,
  portion: Portion,
  sums: readonly string[],
  condition: Sql,
): Promise<Figures> {
  const columns = (await storedColumns(client, portion.table)).filter((name) => !NO_FIGURES.has(name));
  const each = sums.length === 0 ? sql`1 AS one` : totals(sums);
  const [row] = await client.query<Figures>(
    sql`SELECT toString(count()) AS count, ${each}, ${fingerprint(columns)} AS rows
     FROM (SELECT * FROM ${identifier(portion.table)} FINAL WHERE ${within(portion)}) WHERE ${condition}`,
  );
  return row ?? {};
}

/** Rows that the index by time lacks, so that no list would find them: none, in both places. */
async function unlisted(client: ClickHouseClient, portion: Portion, kind: 'trace' | 'session'): Promise<Figures> {
  const [starts, start] = kind === 'trace' ? ['trace_starts', 'started_at'] : ['session_starts', 'created_ver'];
  const project = sql`project_id = ${literal(portion.project ?? '')}`;
  const [row] = await client.query<{ missing: string }>(
    sql`SELECT toString(count()) AS missing FROM (SELECT * FROM ${identifier(portion.table)} FINAL WHERE ${within(portion)})
     WHERE NOT gone AND (id, ${identifier(start)}) NOT IN (SELECT id, ${identifier(start)} FROM ${identifier(starts)} WHERE ${project})
       ${kind === 'trace' ? sql`AND NOT internal` : sql`AND NOT (id IN (${aside(portion, kind)}))`}`,
  );
  return { 'missing from the index': row?.missing ?? '' };
}

/** Traces, or sessions of such, that could not be computed whole, perhaps in one place alone. */
function aside({ project }: Portion, kind: 'trace' | 'session'): Sql {
  const own = literal(project ?? '');
  const ids = sql`SELECT id FROM set_aside FINAL WHERE project_id = ${own} AND kind = ${literal(kind)} AND aside`;
  if (kind === 'trace') return ids;
  const traces = sql`SELECT id FROM set_aside FINAL WHERE project_id = ${own} AND kind = 'trace' AND aside`;
  return sql`${ids} UNION ALL SELECT session_id FROM session_traces WHERE project_id = ${own} AND trace_id IN (${traces})`;
}

function asideSessions(portion: Portion): Sql {
  return sql`trace_id NOT IN (${aside(portion, 'trace')}) AND session_id NOT IN (${aside(portion, 'session')})`;
}

const duration = sql`toString(sum(toInt128(round(duration_ms * 1000000)))) AS duration`;

function totals(columns: readonly string[]): Sql {
  return join(
    columns.map((name) => sql`toString(sum(${identifier(name)})) AS ${identifier(`total_${name}`)}`),
    ', ',
  );
}
