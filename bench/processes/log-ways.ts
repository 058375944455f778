import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { LogRecord } from '../../src/engine/traces/write/log/record.js';
import { SegmentLog } from '../../src/engine/traces/write/log/segment-log.js';
import type { SqliteLogRequest } from './sqlite-log-worker.js';

/** Ways to make records durable. */
export const WAYS = ['segments', 'sqlite', 'bare'] as const;
export type Way = (typeof WAYS)[number];

export interface GroupWriter {
  /** Resolves once the records are on the disk. One call at a time. */
  write(records: readonly LogRecord[]): Promise<void>;
  close(): Promise<void>;
}

/** Bytes after which a log lets go of what it holds, as one does whose records are stored elsewhere meanwhile. */
const LET_GO_BYTES = 4 * 1024 * 1024;

export function openWay(way: Way, directory: string): Promise<GroupWriter> {
  return { segments: openSegments, sqlite: openSqlite, bare: openBare }[way](directory);
}

/** A source of records whose rows are random bytes in memory of their own, as an encoder leaves them. */
export function recordSource(bytes: number, rows: number): () => LogRecord {
  const pattern = randomBytes(bytes);
  const trace = '0197f3a0-0000-7000-9000-000000000000';
  let next = 1;
  return () => {
    const own = Buffer.from(new ArrayBuffer(bytes));
    pattern.copy(own);
    const first = next;
    next += rows;
    const tables = [{ table: 'spans', bytes: own }];
    return { projectId: trace, first, rows, deletes: false, traces: [trace], sessions: [trace], tables };
  };
}

export function bytesOf({ tables }: LogRecord): number {
  return tables.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

async function openSegments(directory: string): Promise<GroupWriter> {
  const { log } = await SegmentLog.open({ directory: join(directory, 'log'), schema: 1, columns: {}, store: 'bench' });
  let held: Awaited<ReturnType<SegmentLog['append']>> = [];
  return {
    async write(records) {
      held.push(...(await log.append(records)));
      if (held.reduce((sum, { length }) => sum + length, 0) < LET_GO_BYTES) return;
      log.stored(held);
      held = [];
    },
    close: () => log.close(),
  };
}

/** A SQLite file of its own, written by a thread of its own that records are transferred to. */
async function openSqlite(directory: string): Promise<GroupWriter> {
  const file = join(directory, 'log.sqlite');
  const worker = new Worker(new URL('./sqlite-log-worker.js', import.meta.url), { workerData: file });
  const failed = new Promise<never>((_resolve, reject) => worker.once('error', reject));
  failed.catch(() => undefined);
  const ask = async (request: SqliteLogRequest, transferred: readonly ArrayBuffer[] = []) => {
    worker.postMessage(request, transferred);
    await Promise.race([once(worker, 'message'), failed]);
  };
  await ask({ rows: [], letGoTo: 0 });
  let held = 0;
  let last = 0;
  return {
    async write(records) {
      const letGoTo = held >= LET_GO_BYTES ? last : 0;
      if (letGoTo > 0) held = 0;
      const rows = records.map((record) => {
        const { tables, first, ...head } = record;
        return { first, head: JSON.stringify(head), tables: tables.map(({ bytes }) => bytes) };
      });
      held += records.reduce((sum, record) => sum + bytesOf(record), 0);
      last = records.at(-1)?.first ?? last;
      await ask(
        { rows, letGoTo },
        rows.flatMap(({ tables }) => tables.map(({ buffer }) => buffer as ArrayBuffer)),
      );
    },
    async close() {
      await worker.terminate();
    },
  };
}

/** Nothing but the bytes of the rows in a file, which is begun anew where a log would let go of it. */
async function openBare(directory: string): Promise<GroupWriter> {
  const file = await open(join(directory, 'bare'), 'w');
  let end = 0;
  return {
    async write(records) {
      const { bytesWritten } = await file.writev(
        records.flatMap(({ tables }) => tables.map(({ bytes }) => bytes)),
        end,
      );
      await file.datasync();
      end += bytesWritten;
      if (end < LET_GO_BYTES) return;
      await file.truncate();
      end = 0;
    },
    close: () => file.close(),
  };
}
