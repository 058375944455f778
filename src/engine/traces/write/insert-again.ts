import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { columnTypes, selectInput } from '../clickhouse/client/input-rows.js';
import { identifier, number, sql, type Sql } from '../clickhouse/client/sql.js';
import { insertFacts, insertsEnded, reconcileFacts } from './facts-of-spans.js';
import { insertMarked } from './marked-spans.js';
import { STORED_IN, type TableName } from './table-columns.js';
import type { StampedWrite } from './unflushed-writes.js';
import type { Version } from './version-clock.js';

/**
 * Sends writes again of which ClickHouse may hold some: rows whose version is there are left out by ClickHouse itself, so that no
 * list shows a span twice.
 */
export class InsertAgain {
  readonly #client: ClickHouseClient;
  readonly #first: Version;
  readonly #versions: Sql;

  constructor(client: ClickHouseClient, writes: readonly StampedWrite[]) {
    this.#client = client;
    this.#first = writes.reduce((least, write) => Math.min(least, write.first), Infinity);
    const last = writes.reduce((most, write) => Math.max(most, write.last), 0);
    this.#versions = sql`ver >= ${number(this.#first)} AND ver <= ${number(last)}`;
  }

  /** Resolves once inserts that no one waits for any more have ended. */
  ended(): Promise<void> {
    return insertsEnded(this.#client);
  }

  /** The SELECT that an insert goes through. */
  async missingOf(table: TableName, columns: readonly string[]): Promise<Sql> {
    const input = selectInput(columns, await columnTypes(this.#client, STORED_IN[table]));
    return sql`${input} WHERE ver NOT IN (SELECT ver FROM ${identifier(STORED_IN[table])} WHERE ${this.#versions})`;
  }

  /** Writes what follows from spans, and an insert of them that was interrupted left out: of those that it had stored. */
  async following(): Promise<void> {
    await insertFacts(this.#client, this.#versions);
    await insertMarked(this.#client, this.#versions);
  }

  /** Makes facts agree with the spans that are stored, without storing more of them. */
  reconcile(): Promise<void> {
    return reconcileFacts(this.#client, this.#first - 1);
  }
}
