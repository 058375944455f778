import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import BetterSqlite3 from 'better-sqlite3';
import { connect } from '../../src/engine/traces/clickhouse/client/client.js';
import { statementOfFile } from '../../src/engine/traces/clickhouse/client/sql.js';
import { startEngine } from '../../src/engine/traces/clickhouse/process/supervisor.js';
import { programFile } from '../harness/program-files.js';

const PROGRAM = programFile('admin');

export interface Said {
  readonly code: number;
  /** The findings by their names; empty when it could not check. */
  readonly found: Readonly<
    Record<string, { count: number; mended: number; examples: { id: string; detail?: string }[] }>
  >;
  readonly report: any;
  readonly stderr: string;
}

/** Runs `check` on a DATA_DIR. */
export function runCheck(dataDir: string, ...args: string[]): Promise<Said> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [PROGRAM, '--json', '--data-dir', dataDir, 'check', ...args],
      { env: { ...process.env, MIN_FREE_DISK_MB: '0' } },
      (error, stdout, stderr) => {
        const report = stdout === '' ? null : JSON.parse(stdout);
        const found = Object.fromEntries((report?.findings ?? []).map((one: any) => [one.flaw, one]));
        resolve({ code: error === null ? 0 : Number(error.code), found, report, stderr });
      },
    );
  });
}

/** Runs statements on the engine of a stopped server. @returns rows of the last one, which has to be a SELECT then */
export async function onEngine(dataDir: string, ...statements: string[]): Promise<any[]> {
  const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const engine = await startEngine({
    path: join(dataDir, 'clickhouse'),
    database: 'spanhouse',
    memoryMb: 1_024,
    maxReadSeconds: 30,
    logger: quiet,
  });
  const client = connect(engine.endpoint);
  try {
    let rows: any[] = [];
    for (const text of statements) {
      const statement = statementOfFile(text);
      if (text.startsWith('SELECT')) rows = await client.query(statement);
      else await client.command(statement);
    }
    return rows;
  } finally {
    await client.close();
    await engine.stop();
  }
}

/** What taking the directory makes, and SQLite for its readers. */
const PASSING = /^(spanhouse\.(lock|pid)|spanhouse\.sqlite-(shm|wal)|snapshot)$/;

/** Path, times and hash of every file and folder of a DATA_DIR. */
export async function contentsOf(dataDir: string, folder = dataDir): Promise<Map<string, string>> {
  const contents = new Map<string, string>();
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (folder === dataDir && PASSING.test(entry.name)) continue;
    if (entry.isDirectory()) for (const [name, hash] of await contentsOf(dataDir, path)) contents.set(name, hash);
    else if (entry.isFile())
      contents.set(
        relative(dataDir, path),
        createHash('sha256')
          .update(await readFile(path))
          .digest('hex'),
      );
    else contents.set(relative(dataDir, path), 'no file');
  }
  return contents;
}

/** Paths of the files of images. */
export async function imageFilesOf(dataDir: string): Promise<string[]> {
  const root = join(dataDir, 'attachments');
  const entries = await readdir(root, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** Changes the metadata by hand. */
export function onSqlite<T>(dataDir: string, work: (database: BetterSqlite3.Database) => T): T {
  const database = new BetterSqlite3(join(dataDir, 'spanhouse.sqlite'));
  try {
    database.pragma('foreign_keys = OFF');
    return work(database);
  } finally {
    database.close();
  }
}
