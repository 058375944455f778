import type { Readable } from 'node:stream';
import type { StatementFailure, TracedStatement, Tracing } from '../../../signals/tracing.js';
import { refusalCode } from './client-errors.js';
import type { ClickHouseClient, InsertFormat, InsertOptions, QueryOptions } from './client.js';
import type { Sql } from './sql.js';
import { describeStatement } from './statement-description.js';

/** A client whose statements are traced: from the wait for a turn to the last byte of the answer. */
export class TracedClient implements ClickHouseClient {
  readonly #client: ClickHouseClient;
  readonly #tracing: Pick<Tracing, 'statement'>;

  constructor(client: ClickHouseClient, tracing: Pick<Tracing, 'statement'>) {
    this.#client = client;
    this.#tracing = tracing;
  }

  query<T>(statement: Sql, options?: QueryOptions): Promise<T[]> {
    return this.#traced(
      () => describeStatement(statement),
      () => this.#client.query(statement, options),
    );
  }

  text(statement: Sql, options?: QueryOptions): Promise<string> {
    return this.#traced(
      () => describeStatement(statement),
      () => this.#client.text(statement, options),
    );
  }

  async stream(statement: Sql, options?: QueryOptions): Promise<Readable> {
    const end = this.#tracing.statement(() => describeStatement(statement));
    if (end === undefined) return this.#client.stream(statement, options);
    try {
      const stream = await this.#client.stream(statement, options);
      // A reader that leaves is no failure of the statement.
      stream.once('close', () => end(stream.errored === null ? undefined : failureOf(stream.errored)));
      return stream;
    } catch (error) {
      end(failureOf(error));
      throw error;
    }
  }

  insert(
    table: string,
    columns: readonly string[],
    format: InsertFormat,
    rows: Buffer | readonly Buffer[],
    options?: InsertOptions,
  ): Promise<void> {
    return this.#traced(
      () => ({ operation: 'INSERT', tables: [table] }),
      () => this.#client.insert(table, columns, format, rows, options),
    );
  }

  command(statement: Sql, options?: QueryOptions): Promise<void> {
    return this.#traced(
      () => describeStatement(statement),
      () => this.#client.command(statement, options),
    );
  }

  ping(): Promise<boolean> {
    return this.#client.ping();
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #traced<T>(describe: () => TracedStatement, work: () => Promise<T>): Promise<T> {
    const end = this.#tracing.statement(describe);
    if (end === undefined) return work();
    try {
      const result = await work();
      end();
      return result;
    } catch (error) {
      end(failureOf(error));
      throw error;
    }
  }
}

function failureOf(error: unknown): StatementFailure {
  return { error, code: refusalCode(error) };
}
