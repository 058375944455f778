import { STORED_KINDS, type Disk, type StorageMeasurement, type StoredBytes } from '../disk.js';
import type { MeasurementStore } from '../storage-measurements.js';
import { guarded, transact, type Database } from '../../metadata/database.js';

interface Row extends StoredBytes {
  readonly at: number;
  readonly disks: string;
}

const COLUMNS = ['at', ...STORED_KINDS, 'disks'];

function prepare(db: Database) {
  const names = COLUMNS.join(', ');
  return {
    add: db.prepare<Row>(
      `INSERT OR REPLACE INTO storage_measurements (${names}) VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')})`,
    ),
    // What is later comes of a clock that was ahead.
    forget: db.prepare<[number, number]>('DELETE FROM storage_measurements WHERE at < ? OR at > ?'),
    latest: db.prepare<[], Row>(`SELECT ${names} FROM storage_measurements ORDER BY at DESC LIMIT 1`),
    earliest: db.prepare<[number], Row>(`SELECT ${names} FROM storage_measurements WHERE at >= ? ORDER BY at LIMIT 1`),
  };
}

/** Measurements of storage in SQLite. */
export class SqliteMeasurementStore implements MeasurementStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  add({ at, stored, disks }: StorageMeasurement, forgetBefore: number): void {
    const { add, forget } = this.#statements;
    transact(this.#db, () => {
      add.run({ at, ...stored, disks: JSON.stringify(disks) });
      forget.run(forgetBefore, at);
    });
  }

  latest(): StorageMeasurement | undefined {
    return guarded(() => measurementOf(this.#statements.latest.get()));
  }

  earliestSince(at: number): StorageMeasurement | undefined {
    return guarded(() => measurementOf(this.#statements.earliest.get(at)));
  }
}

function measurementOf(row: Row | undefined): StorageMeasurement | undefined {
  if (row === undefined) return undefined;
  const { at, disks, ...stored } = row;
  return { at, stored, disks: JSON.parse(disks) as Disk[] };
}
