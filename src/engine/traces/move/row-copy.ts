import type { Readable } from 'node:stream';
import { DomainError } from '../../errors.js';
import { metLimit } from '../clickhouse/client/client-errors.js';
import type { ClickHouseClient } from '../clickhouse/client/client.js';
import { deleteRows } from '../clickhouse/client/mutations.js';
import { empty, identifier, join, literal, number, sql, type Sql } from '../clickhouse/client/sql.js';
import { fingerprint, portionEnd, storedColumns, within, type Extent, type Portion } from './portions.js';

/** Bytes, before compression, that a portion has on average: several are in memory at once. */
const PORTION_BYTES = 32 * 1024 * 1024;
const MAX_ROWS = 200_000;
/** A portion that is too much for one statement is read in so many, then in as many times more, up to the most. */
const SLICES = 8;
const MAX_SLICES = 4096;
/** Rows that vanish while they are copied belong to a project that is being deleted. */
const ATTEMPTS = 3;

export interface CopyTask {
  readonly extent: Extent;
  /** Where an earlier run has got to. */
  readonly from: string | null;
  /** Whether rows stay as they are: then they are compared, and what a run that was interrupted left is removed first. */
  readonly fixed: boolean;
  /** Called when everything up to a key is stored for good. */
  readonly onStored: (to: string, rows: number) => Promise<void>;
}

/** Copies rows from one ClickHouse to another as they are stored, a portion at a time: one is read while the last is written. */
export class RowCopy {
  readonly #source: ClickHouseClient;
  readonly #target: ClickHouseClient;
  readonly #columns = new Map<string, Promise<string[]>>();
  readonly #rows = new Map<string, Promise<number>>();

  constructor(source: ClickHouseClient, target: ClickHouseClient) {
    this.#source = source;
    this.#target = target;
  }

  /** @throws DomainError; what was stored by then stays, and a later run continues from there */
  async copy({ extent, from, fixed, onStored }: CopyTask): Promise<void> {
    // A run that was interrupted may have stored some of its next portion.
    if (fixed) await deleteRows(this.#target, extent.table, within({ ...extent, from, to: null }));
    const rows = await this.#portionRows(extent.table);
    let storing: Promise<void> = Promise.resolve();
    try {
      for (let last = from; ;) {
        const to = await portionEnd(this.#source, extent, last, rows);
        if (to === null) break;
        const portion: Portion = { ...extent, from: last, to };
        const pieces = await this.#read(portion, empty).catch(unlessTooMuch);
        await storing;
        storing = this.#store(portion, pieces, fixed).then((stored) => onStored(to, stored));
        storing.catch(() => undefined);
        last = to;
      }
    } finally {
      await storing.catch(() => undefined);
    }
    await storing;
  }

  /** Copies all of a table at once, beside what is there. */
  async copyAll(table: string, condition: Sql = sql`1`): Promise<void> {
    const columns = await this.#columnsOf(table);
    const pieces = await piecesOf(await this.#source.stream(selecting(table, columns, condition)));
    await this.#insert(table, columns, pieces);
  }

  /** @param pieces null: too much for one statement @returns how many rows there are */
  async #store(portion: Portion, pieces: readonly Buffer[] | null, fixed: boolean): Promise<number> {
    const columns = await this.#columnsOf(portion.table);
    const insert = async (read: readonly Buffer[] | null) =>
      read === null ? this.#copySlices(portion) : this.#insert(portion.table, columns, read);
    await insert(pieces);
    if (!fixed) return this.#count(portion);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
      const [there, here] = await Promise.all([this.#sum(this.#source, portion), this.#sum(this.#target, portion)]);
      if (there.sum === here.sum && there.rows === here.rows) return Number(here.rows);
      await deleteRows(this.#target, portion.table, within(portion));
      await insert(await this.#read(portion, empty).catch(unlessTooMuch));
    }
    throw new DomainError(
      'unavailable',
      `Rows of ${portion.table} still differ after ${ATTEMPTS} copies: check the disks of both places`,
    );
  }

  async #copySlices(portion: Portion): Promise<void> {
    const columns = await this.#columnsOf(portion.table);
    for (let slices = SLICES; ; slices *= SLICES) {
      try {
        for (let at = 0; at < slices; at += 1)
          await this.#insert(portion.table, columns, await this.#read(portion, slice(slices, at)));
        return;
      } catch (error) {
        if (slices >= MAX_SLICES || !metLimit(error)) throw error;
        await deleteRows(this.#target, portion.table, within(portion));
      }
    }
  }

  async #read(portion: Portion, more: Sql): Promise<Buffer[]> {
    const columns = await this.#columnsOf(portion.table);
    const statement = selecting(portion.table, columns, sql`${within(portion)}${more}`);
    return piecesOf(await this.#source.stream(statement));
  }

  async #insert(table: string, columns: readonly string[], pieces: readonly Buffer[]): Promise<void> {
    if (pieces.length > 0) await this.#target.insert(table, columns, 'Native', pieces);
  }

  async #sum(client: ClickHouseClient, portion: Portion): Promise<{ rows: string; sum: string }> {
    const sum = fingerprint(await this.#columnsOf(portion.table));
    const [row] = await client.query<{ rows: string; sum: string }>(
      sql`SELECT toString(count()) AS rows, ${sum} AS sum FROM ${identifier(portion.table)} WHERE ${within(portion)}`,
    );
    return row ?? { rows: '0', sum: '0' };
  }

  async #count(portion: Portion): Promise<number> {
    const [row] = await this.#source.query<{ rows: string }>(
      sql`SELECT toString(count()) AS rows FROM ${identifier(portion.table)} WHERE ${within(portion)}`,
    );
    return Number(row?.rows ?? 0);
  }

  #columnsOf(table: string): Promise<string[]> {
    return known(this.#columns, table, () => storedColumns(this.#source, table));
  }

  #portionRows(table: string): Promise<number> {
    return known(this.#rows, table, () => portionRows(this.#source, table));
  }
}

/** How many rows of a table make about as many bytes as a portion may have. */
async function portionRows(client: ClickHouseClient, table: string): Promise<number> {
  const [row] = await client.query<{ bytes: string }>(
    sql`SELECT toString(sum(data_uncompressed_bytes) / greatest(1, sum(rows))) AS bytes FROM system.parts
     WHERE active AND database = currentDatabase() AND table = ${literal(table)}`,
  );
  const bytes = Math.max(1, Number(row?.bytes ?? 1));
  return Math.max(1, Math.min(MAX_ROWS, Math.floor(PORTION_BYTES / bytes)));
}

function selecting(table: string, columns: readonly string[], condition: Sql): Sql {
  const names = join(
    columns.map((name) => identifier(name)),
    ', ',
  );
  return sql`SELECT ${names} FROM ${identifier(table)} WHERE ${condition} FORMAT Native`;
}

/** Some rows of a portion, whatever their keys: all of them may have the same. */
function slice(slices: number, at: number): Sql {
  return sql` AND cityHash64(ver) % ${number(slices)} = ${number(at)}`;
}

function unlessTooMuch(error: unknown): null {
  if (metLimit(error)) return null;
  throw error;
}

async function piecesOf(stream: Readable): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  for await (const piece of stream as AsyncIterable<Buffer>) pieces.push(piece);
  return pieces;
}

function known<T>(by: Map<string, Promise<T>>, name: string, ask: () => Promise<T>): Promise<T> {
  const found = by.get(name) ?? ask();
  by.set(name, found);
  return found;
}
