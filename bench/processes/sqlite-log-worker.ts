import { parentPort, workerData } from 'node:worker_threads';
import BetterSqlite3 from 'better-sqlite3';

/** One transaction: what it takes, and up to which number it removes rows. */
export interface SqliteLogRequest {
  readonly rows: readonly { readonly first: number; readonly head: string; readonly tables: readonly Uint8Array[] }[];
  readonly letGoTo: number;
}

// The thread of the SQLite file that stands for a write-ahead log: each message is one transaction, and is answered when
// it is durable.

const database = new BetterSqlite3(workerData as string);
database.pragma('journal_mode = WAL');
database.pragma('synchronous = FULL');
database.exec('CREATE TABLE log (first INTEGER PRIMARY KEY, head TEXT NOT NULL, rows BLOB NOT NULL)');
const insert = database.prepare('INSERT INTO log (first, head, rows) VALUES (?, ?, ?)');
const letGo = database.prepare('DELETE FROM log WHERE first <= ?');
const commit = database.transaction(({ rows, letGoTo }: SqliteLogRequest) => {
  if (letGoTo > 0) letGo.run(letGoTo);
  for (const { first, head, tables } of rows) for (const table of tables) insert.run(first, head, table);
});

parentPort?.on('message', (request: SqliteLogRequest) => {
  commit(request);
  parentPort?.postMessage('durable');
});
