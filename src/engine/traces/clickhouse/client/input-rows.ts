import type { ClickHouseClient } from './client.js';
import { identifierLiteral } from './literals.js';
import { join, literal, quotedIdentifier, sql, value, type Sql } from './sql.js';

/** The types of a table's columns, by name. */
export async function columnTypes(client: ClickHouseClient, table: string): Promise<ReadonlyMap<string, string>> {
  const rows = await client.query<{ name: string; type: string }>(
    sql`SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = ${value(table, 'String')}`,
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

/** The SELECT that the rows of an insert go through: all of them, in the columns given. A condition may follow it. */
export function selectInput(columns: readonly string[], types: ReadonlyMap<string, string>): Sql {
  const structure = columns.map((name) => `${identifierLiteral(name)} ${types.get(name) ?? ''}`).join(', ');
  return sql`SELECT ${join(columns.map(quotedIdentifier), ', ')} FROM input(${literal(structure)})`;
}
