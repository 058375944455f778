import type { ClockMemory, ClockNote } from '../believed-clock.js';
import { guarded, transact, type Database } from '../../../engine/metadata/database.js';

function prepare(db: Database) {
  return {
    read: db.prepare<[], ClockNote>('SELECT at, waited FROM believed_clock'),
    write: db.prepare<ClockNote>('INSERT OR REPLACE INTO believed_clock (id, at, waited) VALUES (1, @at, @waited)'),
  };
}

/** What is known of the clock, in SQLite. */
export class SqliteClockMemory implements ClockMemory {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#db = db;
    this.#statements = prepare(db);
  }

  read(): ClockNote | null {
    return guarded(() => this.#statements.read.get() ?? null);
  }

  update(next: (note: ClockNote | null) => ClockNote): void {
    const { read, write } = this.#statements;
    transact(this.#db, () => write.run(next(read.get() ?? null)));
  }
}
