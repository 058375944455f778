import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ListQuery } from '../../engine/traces/model/list/query.js';
import { CHANGES_WIDTH, type ChangesFrom, type ListChanges } from '../../engine/traces/model/list/changes.js';
import type { State } from '../../engine/traces/model/list/tail.js';
import { fileOf } from '../exports/exports.js';
import type { ExportedColumn } from '../exports/exported-rows.js';
import type { Schedule } from './schedule.js';

/** Rows, characters of them, and milliseconds, after which an object ends with a page: others wait for it. */
const MOST = { rows: 200_000, characters: 256 * 1024 * 1024, ms: 60_000 };

export interface ObjectParts {
  readonly changes: ListChanges;
  /** Where objects are put together before they are uploaded. */
  readonly directory: string;
  readonly signal: AbortSignal;
  /** @throws DomainError while the disk is too full */
  readonly requireSpace: () => void;
  /** Ends a page that took so long. */
  readonly rest: (tookMs: number) => Promise<void>;
  /** Rows after which an object ends; default: as many as are handled together. */
  readonly mostRows?: number;
}

/** What is exported of which schedule. */
export interface ObjectOf {
  readonly schedule: Schedule;
  readonly query: ListQuery;
  readonly columns: readonly ExportedColumn[];
}

/** An object on the disk. */
export interface ObjectFile {
  readonly path: string;
  readonly rows: number;
  /** The version that it reaches to. */
  readonly to: State;
  /** Whether it ends because it is large enough. */
  readonly isFull: boolean;
}

/**
 * Writes the next object of a schedule to the disk: the rows behind what is exported, up to the version that an object which was cut off
 * reaches to, else as far as there are any, or as one object may be.
 * @throws DomainError `unavailable`
 */
export async function writeObject(parts: ObjectParts, of: ObjectOf): Promise<ObjectFile> {
  const { schedule } = of;
  const path = join(parts.directory, `${schedule.id}.${schedule.format}`);
  await mkdir(parts.directory, { recursive: true, mode: 0o700 });
  await rm(path, { force: true });
  const written = { rows: 0, to: schedule.exported_to, isFull: false };
  const file = fileOf(of, schedule.format, pages(parts, of, written));
  await pipeline(Readable.from(file, { objectMode: false }), createWriteStream(path, { mode: 0o600 }), {
    signal: parts.signal,
  });
  return { path, ...written };
}

/** @param written is told what was read */
async function* pages(
  { changes, signal, requireSpace, rest, mostRows = MOST.rows }: ObjectParts,
  { schedule, query }: ObjectOf,
  written: { rows: number; to: State; isFull: boolean },
): AsyncGenerator<readonly string[]> {
  const { object_to: again, exported_to, project_id: projectId, list } = schedule;
  const upTo = again ?? changes.now();
  let from: ChangesFrom = { after: exported_to, width: CHANGES_WIDTH };
  let characters = 0;
  const started = performance.now();
  while (from.after < upTo) {
    const began = performance.now();
    requireSpace();
    const { rows, next } = await changes.page({ projectId, list, query }, from, upTo, signal);
    from = next;
    written.rows += rows.length;
    written.to = next.after;
    characters += rows.reduce((sum, { length }) => sum + length, 0);
    if (rows.length > 0) yield rows;
    await rest(performance.now() - began);
    const isLate = performance.now() - started > MOST.ms;
    written.isFull = again === null && (written.rows >= mostRows || characters >= MOST.characters || isLate);
    if (written.isFull) return;
  }
}
