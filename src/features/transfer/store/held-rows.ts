import { DomainError } from '../../../engine/errors.js';
import type { Database } from '../../../engine/metadata/database.js';

/** After so many datasets, it is counted again how many rows versions have. */
const MAX_KNOWN = 100;

interface Surplus {
  readonly id: string;
  readonly number: number;
  readonly row_count: number;
  readonly held: number;
}

/**
 * How many rows versions of datasets have while rows are imported: more than a version says are refused. Counted once for each dataset,
 * and then kept in a table of this connection, in the transactions that store rows, as counting for each portion would take longer with
 * each. Exports have rows in the order of the versions that they begin with: once a row comes, all that ended before it are there.
 */
export class HeldRows {
  readonly #statements: ReturnType<typeof prepare>;
  /** Datasets with new rows in this transaction, and the version that the first of them begins with. */
  readonly #begun = new Map<number, number>();

  constructor(db: Database) {
    db.exec(`CREATE TEMP TABLE IF NOT EXISTS held_datasets (dataset INTEGER PRIMARY KEY, last_version INTEGER NOT NULL) STRICT;
      CREATE TEMP TABLE IF NOT EXISTS held_rows (dataset INTEGER NOT NULL, number INTEGER NOT NULL, change INTEGER NOT NULL,
        PRIMARY KEY (dataset, number)) STRICT, WITHOUT ROWID`);
    this.#statements = prepare(db);
  }

  /** Call at the start of each transaction that stores rows. */
  begin(): void {
    const { forgetAll, knownOnes } = this.#statements;
    this.#begun.clear();
    if ((knownOnes.get() ?? 0) > MAX_KNOWN) for (const statement of forgetAll) statement.run();
  }

  /** Call before rows of a dataset are stored. @param last its newest version */
  know(dataset: number, last: number): void {
    const { known, forget, count, note } = this.#statements;
    if (known.get(dataset) === last) return;
    forget.run(dataset);
    count.run({ dataset, last });
    note.run(dataset, last);
  }

  /** A row was stored, of versions from one up to before another. */
  began(dataset: number, from: number, to: number | null): void {
    this.#statements.change.run(dataset, from, 1);
    this.ended(dataset, to);
    this.#begun.set(dataset, Math.min(from, this.#begun.get(dataset) ?? Infinity));
  }

  ended(dataset: number, to: number | null): void {
    if (to !== null) this.#statements.change.run(dataset, to, -1);
  }

  /** @throws DomainError `conflict` where a version has more rows than it says, since some were stored */
  check(): void {
    for (const [dataset, from] of this.#begun) {
      const surplus = this.#statements.surplus.get({ dataset, from });
      if (surplus !== undefined)
        throw new DomainError(
          'conflict',
          `Version ${surplus.number} of the dataset ${surplus.id} has row_count ${surplus.row_count}, and these would make ` +
            `${surplus.held} rows; none were stored. Import rows in the order of the export, each with its to_version`,
        );
    }
  }
}

function prepare(db: Database) {
  return {
    known: db.prepare<[number], number>('SELECT last_version FROM held_datasets WHERE dataset = ?').pluck(),
    knownOnes: db.prepare<[], number>('SELECT count(*) FROM held_datasets').pluck(),
    forget: db.prepare<[number]>('DELETE FROM held_rows WHERE dataset = ?'),
    forgetAll: ['held_rows', 'held_datasets'].map((table) => db.prepare<[]>(`DELETE FROM ${table}`)),
    // Rows of later versions are of one that is being made.
    count: db.prepare<{ dataset: number; last: number }>(
      `INSERT INTO held_rows (dataset, number, change) SELECT @dataset, number, sum(change) FROM (
         SELECT from_version AS number, 1 AS change FROM dataset_rows INDEXED BY dataset_rows_by_start
           WHERE dataset = @dataset AND from_version <= @last
         UNION ALL SELECT to_version, -1 FROM dataset_rows INDEXED BY dataset_rows_by_end
           WHERE dataset = @dataset AND to_version <= @last AND to_version IS NOT NULL) GROUP BY number`,
    ),
    note: db.prepare<[number, number]>(
      'INSERT INTO held_datasets (dataset, last_version) VALUES (?, ?) ON CONFLICT (dataset) DO UPDATE SET last_version = excluded.last_version',
    ),
    change: db.prepare<[number, number, number]>(
      `INSERT INTO held_rows (dataset, number, change) VALUES (?, ?, ?)
       ON CONFLICT (dataset, number) DO UPDATE SET change = change + excluded.change`,
    ),
    surplus: db.prepare<{ dataset: number; from: number }, Surplus>(
      `SELECT id, number, row_count, held FROM (
         SELECT d.id, v.number, v.row_count, sum(coalesce(h.change, 0)) OVER (ORDER BY v.number) AS held
         FROM datasets AS d JOIN dataset_versions AS v ON v.dataset_id = d.id
           LEFT JOIN held_rows AS h ON h.dataset = d.seq AND h.number = v.number
         WHERE d.seq = @dataset)
       WHERE number >= @from AND held > row_count ORDER BY number LIMIT 1`,
    ),
  };
}
