import type { ProjectFigures } from '../model/backup/manifest.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { textOf, unitsOf } from '../clickhouse/client/decimal.js';
import { literal, number, sql, type Sql } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { standing } from '../read/visibility.js';

/** So many rows are counted by one statement: some seconds of a slow machine, whatever a project holds. */
const ROWS_AT_ONCE = 2_000_000;
const SETTINGS = { optimize_aggregation_in_order: 1 } as const;

/** Sums as texts, as numbers do not hold them. */
interface Sums {
  readonly spans: string;
  readonly errors: string;
  readonly cost: string;
  readonly input_tokens: string;
  readonly output_tokens: string;
  readonly versions: string;
}

interface Recount {
  readonly project_id: string;
  readonly upTo: Version;
  readonly rowsAtOnce: number;
}

/**
 * What the spans of each project add up to in the state at a version, recounted from their facts. The state must be held,
 * or be the last one: what was replaced since would be purged.
 */
export async function figuresAt(
  client: ClickHouseClient,
  upTo: Version,
  rowsAtOnce = ROWS_AT_ONCE,
): Promise<ProjectFigures[]> {
  const projects = await client.query<{ id: string }>(
    sql`SELECT DISTINCT project_id AS id FROM facts WHERE ver <= ${number(upTo)} ORDER BY id`,
  );
  const figures: ProjectFigures[] = [];
  for (const { id } of projects) {
    const found = await figuresOf(client, { project_id: id, upTo, rowsAtOnce });
    if (found.spans > 0) figures.push(found);
  }
  return figures;
}

/** Trace by trace, in the order of the table: what is in memory at once is one of them. */
async function figuresOf(client: ClickHouseClient, { project_id, upTo, rowsAtOnce }: Recount): Promise<ProjectFigures> {
  const sums = { spans: 0n, errors: 0n, cost: 0n, input_tokens: 0n, output_tokens: 0n, versions: 0n };
  let from: string | null = null;
  do {
    const behind = from === null ? sql`` : sql`AND trace_id > ${literal(from)}`;
    const rest = sql`project_id = ${literal(project_id)} ${behind}`;
    const to: string | null = await endOfSlice(client, rest, rowsAtOnce);
    const slice = to === null ? rest : sql`${rest} AND trace_id <= ${literal(to)}`;
    const [row] = await client.query<Sums>(sumsOf(slice, upTo), { settings: SETTINGS });
    for (const name of Object.keys(sums) as (keyof Sums)[])
      sums[name] += name === 'cost' ? unitsOf(row?.cost ?? '0') : BigInt(row?.[name] ?? 0);
    from = to;
  } while (from !== null);
  const { spans, errors, cost, ...others } = sums;
  return {
    project_id,
    spans: Number(spans),
    errors: Number(errors),
    cost: textOf(cost),
    input_tokens: String(others.input_tokens),
    output_tokens: String(others.output_tokens),
    versions: String(others.versions),
  };
}

/** The last trace of as many rows; null: there are fewer. */
async function endOfSlice(client: ClickHouseClient, rows: Sql, rowsAtOnce: number): Promise<string | null> {
  const [row] = await client.query<{ trace: string }>(
    sql`SELECT toString(trace_id) AS trace FROM facts WHERE ${rows} ORDER BY trace_id LIMIT 1 OFFSET ${number(rowsAtOnce)}`,
  );
  return row?.trace ?? null;
}

function sumsOf(slice: Sql, upTo: Version): Sql {
  return sql`SELECT toString(count()) AS spans, toString(sum(has_error)) AS errors, toString(sum(ifNull(cost, 0))) AS cost,
     toString(sum(ifNull(input_tokens, 0))) AS input_tokens, toString(sum(ifNull(output_tokens, 0))) AS output_tokens,
     toString(sum(toUInt128(ver))) AS versions
     FROM (${standing(sql`has_error, cost, input_tokens, output_tokens`, sql`${slice} AND ver <= ${number(upTo)}`)})
     WHERE row_type = 0`;
}
