import { InsertError, type ClickHouseClient, type InsertOptions } from '../clickhouse/client/client.js';
import { InsertAgain } from './insert-again.js';
import type { SegmentLog } from './log/segment-log.js';
import { loggedColumns } from './logged-columns.js';
import { insertedColumns, STORED_IN, type TableName } from './table-columns.js';
import type { StampedRows, StampedWrite } from './unflushed-writes.js';

export interface WriteInsertsParts {
  readonly client: ClickHouseClient;
  /** Null: requests are acknowledged when ClickHouse holds them. */
  readonly log: SegmentLog | null;
  /** Told of a project before a span of it with the mark of an experiment is stored. */
  readonly onMarked: (projectId: string) => void;
}

/** In this order: the facts of a span come from its row by materialized view. */
const TABLES: readonly TableName[] = ['spans', 'marked_spans', 'facts', 'session_statements', 'scores'];

/** Parts of scores are small until they are merged, which indexes them: until then, all of such a part is read as quickly. */
const INSERTED_WITH: Partial<Record<string, InsertOptions['settings']>> = {
  scores: { materialize_skip_indexes_on_insert: 0 },
};

/** Inserts acknowledged writes into the tables of ClickHouse, from memory or from the log. */
export class WriteInserts {
  readonly #parts: WriteInsertsParts;

  constructor(parts: WriteInsertsParts) {
    this.#parts = parts;
  }

  /**
   * @param unsure whether an insert of the same writes has just failed after it may have stored some
   * @throws InsertError
   */
  async insert(taken: readonly StampedWrite[], unsure: boolean): Promise<void> {
    const rows: StampedRows[] = [];
    const { client, log, onMarked } = this.#parts;
    for (const write of taken) {
      const own = write.tables ?? (await this.#read(write));
      if (own.some(({ table }) => table === 'marked_spans')) onMarked(write.projectId);
      rows.push(...own);
    }
    const again = unsure || taken.some((write) => write.unsure === true) ? new InsertAgain(client, taken) : null;
    await again?.ended();
    // Without a log they were refused: what got stored of them is only to be whole.
    if (again !== null && log === null) return again.reconcile();
    let isPartly = false;
    for (const [table, columns, own] of byColumns(rows)) {
      try {
        const through = await again?.missingOf(table, columns);
        const settings = INSERTED_WITH[STORED_IN[table]];
        await client.insert(STORED_IN[table], columns, 'RowBinary', own, {
          ...(through && { through }),
          ...(settings && { settings }),
        });
        if (STORED_IN[table] === 'spans') await again?.following();
      } catch (error) {
        throw isPartly && error instanceof InsertError ? error.partly() : error;
      }
      isPartly = true;
    }
  }

  async #read({ place }: StampedWrite): Promise<readonly StampedRows[]> {
    if (place === null) throw new Error('rows without a place in the log');
    const { log } = this.#parts;
    const record = await log?.read(place);
    const said = log?.columnsOf(place) ?? null;
    return ((record?.tables ?? []) as readonly StampedRows[]).map((rows) => {
      const columns = loggedColumns(said, rows.table);
      return columns === undefined ? rows : { ...rows, columns };
    });
  }
}

/** Rows that one insert takes, in the order of tables: those that an earlier version of the server logged may have other columns. */
function byColumns(rows: readonly StampedRows[]): [TableName, readonly string[], Buffer[]][] {
  return TABLES.flatMap((table) => {
    const groups = new Map<string, [TableName, readonly string[], Buffer[]]>();
    for (const { bytes, columns = insertedColumns[table] } of rows.filter((each) => each.table === table)) {
      const group = groups.get(String(columns));
      if (group === undefined) groups.set(String(columns), [table, columns, [bytes]]);
      else group[2].push(bytes);
    }
    return [...groups.values()];
  });
}
