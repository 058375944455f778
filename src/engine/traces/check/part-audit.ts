import { createHash } from 'node:crypto';
import type { Audit, AuditedPage, Suspect } from '../model/check/audit.js';
import { DomainError } from '../../errors.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { identifier, literal, sql } from '../clickhouse/client/sql.js';

interface Part {
  readonly table: string;
  readonly name: string;
  readonly bytes: string;
}

const MEGABYTE = 1024 * 1024;

/** The files of ClickHouse against their own checksums, and those that it could not read at its start. */
export class PartAudit implements Audit {
  readonly title = 'ClickHouse files';
  readonly unit = 'MB';
  readonly #client: ClickHouseClient;
  readonly #mostBytes: number;
  readonly #seed: number;

  /** @param megabytes about how much is read; null: all */
  constructor(client: ClickHouseClient, { sample: megabytes, seed }: { sample: number | null; seed: number }) {
    this.#client = client;
    this.#mostBytes = megabytes === null ? Infinity : megabytes * MEGABYTE;
    this.#seed = seed;
  }

  async total(): Promise<number> {
    return Math.ceil((await this.#parts()).reduce((sum, { bytes }) => sum + Number(bytes), 0) / MEGABYTE);
  }

  async *pages(): AsyncGenerator<AuditedPage> {
    yield { checked: 0, suspects: await this.#detached() };
    for (const part of await this.#parts())
      yield { checked: Number(part.bytes) / MEGABYTE, ...(await this.#examine(part)) };
  }

  async #detached(): Promise<Suspect[]> {
    const rows = await this.#client.query<{ table: string; name: string; reason: string }>(
      sql`SELECT table, name, reason FROM system.detached_parts WHERE database = currentDatabase() ORDER BY table, name LIMIT 1000`,
    );
    return rows.map(({ table, name, reason }) => ({
      flaw: 'part_detached',
      project: '',
      id: `${table}/${name}`,
      detail: reason,
    }));
  }

  /** All parts, or so many of some that are picked by their names. */
  async #parts(): Promise<Part[]> {
    const parts = await this.#client.query<Part>(
      sql`SELECT table, name, toString(bytes_on_disk) AS bytes FROM system.parts
       WHERE active AND database = currentDatabase() ORDER BY table, name`,
    );
    if (this.#mostBytes === Infinity) return parts;
    const place = ({ table, name }: Part) =>
      createHash('sha256').update(`${this.#seed}/${table}/${name}`).digest('hex');
    const picked: Part[] = [];
    let left = this.#mostBytes;
    for (const part of parts.toSorted((one, other) => (place(one) < place(other) ? -1 : 1))) {
      if (Number(part.bytes) > left) continue;
      picked.push(part);
      left -= Number(part.bytes);
    }
    return picked;
  }

  async #examine({ table, name }: Part): Promise<Pick<AuditedPage, 'suspects' | 'skipped'>> {
    try {
      const rows = await this.#client.query<{ part_path: string; is_passed: boolean | number; message: string }>(
        sql`CHECK TABLE ${identifier(table)} PART ${literal(name)} SETTINGS check_query_single_value_result = 0`,
      );
      const failed = rows.filter(({ is_passed }) => is_passed === false || is_passed === 0);
      return {
        suspects: failed.map(({ message }) => ({
          flaw: 'part_damaged',
          project: '',
          id: `${table}/${name}`,
          detail: message,
        })),
      };
    } catch (error) {
      // It was merged meanwhile, or is too large to be read in the time that reads have.
      if (!(error instanceof DomainError)) throw error;
      return { suspects: [], skipped: 1 };
    }
  }
}
