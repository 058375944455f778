import { DomainError } from '../../errors.js';
import { statementsIn, migrate } from '../migrations.js';
import type { MigrationFile } from '../../files/migration-files.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { identifier, literal, number, sql, statementOfFile, value } from '../clickhouse/client/sql.js';
import type { Version } from '../write/version-clock.js';
import { writeWatermark } from '../rollup/recovery.js';

/** Says whose spans are being moved to a database, and how far that is. A server starts on it only when all is there. */
const TABLE = 'move_target';
/** Fills `facts` with each row of `spans`; absent while both are copied. */
const VIEW = 'facts_of_spans';

/** How far a move is. */
export interface MoveState {
  /** Everything up to this version that is in the tables to which rows are only added is copied first. */
  readonly upTo: Version;
  /** Everything up to this version is in the figures of the new place. */
  readonly rolledUp: Version;
  /** What is copied of what was written up to `upTo`: up to a key of a table and project. Null: all. */
  readonly first: { readonly table: string; readonly project: string; readonly to: string | null } | null;
  /** What is copied of later versions: up to a version of a table. Null: nothing, or all up to `upTo`. */
  readonly later: { readonly upTo: Version; readonly table: string; readonly to: string | null } | null;
}

/** A database that spans are moved to. */
export class MoveTarget {
  readonly #client: ClickHouseClient;
  readonly #id: string;
  #steps = 0;

  constructor(client: ClickHouseClient, id: string) {
    this.#client = client;
    this.#id = id;
  }

  /**
   * Makes the tables, unless an earlier run of this move has.
   * @returns how far that came; null: nothing is copied yet
   * @throws DomainError `conflict` where other data is; MigrationError
   */
  async prepare(migrations: readonly MigrationFile[]): Promise<MoveState | null> {
    const move = await requireFree(this.#client, this.#id);
    if (move === null) {
      await this.#client.command(
        sql`CREATE TABLE IF NOT EXISTS ${identifier(TABLE)} (id UUID, step UInt64, state String) ENGINE = MergeTree ORDER BY step
         SETTINGS fsync_after_insert = 1, fsync_part_directory = 1`,
      );
      await this.#note('');
    }
    this.#steps = Math.max(this.#steps, move?.step ?? 0);
    await migrate(this.#client, migrations, null);
    await this.#client.command(sql`DROP VIEW IF EXISTS ${identifier(VIEW)}`);
    return move === null || move.state === '' ? null : (JSON.parse(move.state) as MoveState);
  }

  async note(state: MoveState): Promise<void> {
    await this.#note(JSON.stringify(state));
  }

  /** From where on figures are recomputed. */
  async setWatermark(version: Version): Promise<void> {
    // Without any, everything is.
    await this.#client.command(sql`TRUNCATE TABLE rolled_up`);
    await writeWatermark(this.#client, version);
  }

  /** Makes the tables as a server needs them. */
  async complete(migrations: readonly MigrationFile[]): Promise<void> {
    const view = migrations
      .flatMap(({ sql: text }) => statementsIn(text))
      .findLast((statement) => statement.startsWith(`CREATE MATERIALIZED VIEW IF NOT EXISTS ${VIEW} `));
    if (view === undefined) throw new Error(`no migration makes ${VIEW}`);
    await this.#client.command(statementOfFile(view));
  }

  async #note(state: string): Promise<void> {
    this.#steps += 1;
    await this.#client.command(
      sql`INSERT INTO ${identifier(TABLE)} (id, step, state) VALUES (toUUID(${literal(this.#id)}), ${number(this.#steps)}, ${literal(state)})`,
    );
  }
}

interface StoredMove {
  readonly id: string;
  readonly step: number;
  readonly state: string;
}

/**
 * Makes sure that a database can be the target of a move.
 * @param id the move; null: one that has not begun
 * @returns what is noted there of the move; null: nothing yet
 * @throws DomainError `conflict`
 */
export async function requireFree(client: ClickHouseClient, id: string | null): Promise<StoredMove | null> {
  const tables = await tablesIn(client);
  const move = tables.includes(TABLE) ? await readMove(client) : null;
  if (move === null && tables.some((name) => name !== TABLE)) throw occupied();
  if (move !== null && move.id !== id) throw unfinished();
  return move;
}

/**
 * Makes sure that a database is not the target of a move that is not through.
 * @param done the id of the move that brought the spans here; null: none did
 * @throws DomainError `conflict`
 */
export async function requireMoved(client: ClickHouseClient, done: string | null): Promise<void> {
  if (!(await tablesIn(client)).includes(TABLE)) return;
  const move = await readMove(client);
  if (move !== null && move.id !== done) throw unfinished();
  await client.command(sql`DROP TABLE IF EXISTS ${identifier(TABLE)}`);
}

async function tablesIn(client: ClickHouseClient): Promise<string[]> {
  const rows = await client.query<{ name: string }>(
    sql`SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ${value(
      [TABLE, 'schema_migrations', 'spans', 'facts'],
      'Array(String)',
    )}`,
  );
  return rows.map(({ name }) => name);
}

async function readMove(client: ClickHouseClient): Promise<StoredMove | null> {
  const [row] = await client.query<{ id: string; step: string; state: string }>(
    sql`SELECT toString(t.id) AS id, toString(t.step) AS step, t.state AS state FROM ${identifier(TABLE)} AS t ORDER BY t.step DESC LIMIT 1`,
  );
  return row === undefined ? null : { ...row, step: Number(row.step) };
}

export function occupied(): DomainError {
  return new DomainError(
    'conflict',
    'The target already contains Spanhouse data. Choose another database with CLICKHOUSE_DATABASE, or remove ' +
      'that data: DROP DATABASE on a ClickHouse server, the folder DATA_DIR/clickhouse for the embedded engine',
  );
}

function unfinished(): DomainError {
  return new DomainError(
    'conflict',
    'This database is the target of an unfinished move. Run that move again, or remove the database: the source still ' +
      'has all its data',
  );
}
