import type { Readable } from 'node:stream';
import { DomainError } from '../../../errors.js';
import { InsertError, refusalCode } from '../client/client-errors.js';
import type { ClickHouseClient, InsertFormat, InsertOptions, QueryOptions } from '../client/client.js';
import { columnTypes, selectInput } from '../client/input-rows.js';
import type { Sql } from '../client/sql.js';
import type { DatabaseLease } from './database-lease.js';
import { fenced, fencedInput, fencedSelect } from './fenced-statement.js';

/** ClickHouse's code of a failed `throwIf`, FUNCTION_THROW_IF_VALUE_IS_NON_ZERO. */
const THROWN = 395;
/** Inserts in one stream: one block is one part, and a condition on its rows is evaluated for the first of them already. */
const ONE_STREAM = { max_insert_threads: '1' } as const;
/** Has conditions evaluated when the statement is taken in, not while ClickHouse rewrites rows later. */
const ON_ARRIVAL = { mutations_execute_subqueries_on_initiator: 1 } as const;

/**
 * A client whose writes ClickHouse itself refuses once another server has the lease, see {@link DatabaseLease}. While the
 * lease is not certain to be held, they are not even sent and fail with `unavailable`, an insert with the outcome `none`.
 */
export class FencedClient implements ClickHouseClient {
  readonly #client: ClickHouseClient;
  readonly #lease: DatabaseLease;
  readonly #types = new Map<string, Promise<ReadonlyMap<string, string>>>();

  constructor(client: ClickHouseClient, lease: DatabaseLease) {
    this.#client = client;
    this.#lease = lease;
  }

  query<T>(statement: Sql, options?: QueryOptions): Promise<T[]> {
    return this.#client.query(statement, options);
  }

  stream(statement: Sql, options?: QueryOptions): Promise<Readable> {
    return this.#client.stream(statement, options);
  }

  text(statement: Sql, options?: QueryOptions): Promise<string> {
    return this.#client.text(statement, options);
  }

  async insert(
    table: string,
    columns: readonly string[],
    format: InsertFormat,
    rows: Buffer | readonly Buffer[],
    options: InsertOptions = {},
  ): Promise<void> {
    const through = await this.#through(table, columns, options.through).catch((error: unknown) => {
      throw unsent(error);
    });
    const settings = { ...options.settings, ...ONE_STREAM };
    try {
      this.#lease.check();
    } catch (error) {
      throw unsent(error);
    }
    try {
      await this.#client.insert(table, columns, format, rows, { ...options, settings, through });
    } catch (error) {
      throw (await this.#isFenced(error)) ? unsent(error) : error;
    }
  }

  async command(statement: Sql, options: QueryOptions = {}): Promise<void> {
    this.#lease.check();
    const tied = fenced(statement, this.#lease.condition, this.#lease.inserting);
    const settings = { ...options.settings, ...ON_ARRIVAL };
    try {
      await this.#client.command(tied, { ...options, settings });
    } catch (error) {
      throw (await this.#isFenced(error)) ? unsent(error) : error;
    }
  }

  async ping(): Promise<boolean> {
    return this.#lease.held && (await this.#client.ping());
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  /**
   * Whether ClickHouse has refused a statement, before it stored anything, because another server has the lease, or because it is
   * not the server that the lease was taken on. No other statement throws so.
   */
  async #isFenced(error: unknown): Promise<boolean> {
    if (refusalCode(error) !== THROWN) return false;
    await this.#lease.isLost().catch(() => false);
    return true;
  }

  async #through(table: string, columns: readonly string[], given: Sql | undefined): Promise<Sql> {
    if (given !== undefined) return fencedSelect(given, this.#lease.inserting);
    return fencedInput(selectInput(columns, await this.#typesOf(table)), this.#lease.inserting);
  }

  /** The types of a table's columns, asked once: while a server runs, they stay what they are. */
  async #typesOf(table: string): Promise<ReadonlyMap<string, string>> {
    const asked = this.#types.get(table) ?? columnTypes(this.#client, table);
    this.#types.set(table, asked);
    try {
      return await asked;
    } catch (error) {
      this.#types.delete(table);
      throw error;
    }
  }
}

/** A write of which certainly nothing is stored. */
function unsent(error: unknown): InsertError {
  const detail = error instanceof DomainError ? error.message : 'ClickHouse does not respond';
  const facts = { outcome: 'none', unreadable: false } as const;
  return new InsertError('unavailable', detail, facts, { cause: error, retryAfterSeconds: 1 });
}
