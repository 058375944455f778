import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  CHANGES_WIDTH,
  type ChangePage,
  type ChangesFrom,
  type SettledRows,
} from '../../engine/traces/model/list/changes.js';
import type { State } from '../../engine/traces/model/list/tail.js';
import { fileOf } from '../exports/exports.js';
import type { ExportedColumn } from '../exports/exported-rows.js';
import type { Schedule } from './schedule.js';

/** Rows, characters of them, and milliseconds, after which an object ends with a page: others wait for it. */
const MOST = { rows: 200_000, characters: 256 * 1024 * 1024, ms: 60_000 };

/** What a schedule exports, by versions that grow. Throws DomainError `unavailable`. */
export interface ExportSource {
  readonly columns: readonly ExportedColumn[];
  /** The version of the newest thing that is stored. */
  now(): State;
  /** Rows behind one version and not behind another, as `ListChanges` has them. */
  page(from: ChangesFrom, upTo: State, signal: AbortSignal): Promise<ChangePage>;
  /** What became of rows that pages left out; absent: they leave out none. */
  settled?(ids: readonly string[], after: State, signal: AbortSignal): Promise<SettledRows>;
}

export interface ObjectParts {
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
  readonly source: ExportSource;
  /** Rows of earlier ranges that are in no object yet. */
  readonly leftOut: readonly string[];
}

interface Written {
  readonly rows: number;
  /** The version that it reaches to. */
  readonly to: State;
  /** Whether it ends because it is large enough. */
  readonly isFull: boolean;
  /** Rows of its range that are not in it, and rows of earlier ranges that need not wait anymore. */
  readonly leftOut: readonly string[];
  readonly caughtUp: readonly string[];
}

/** An object on the disk. */
export interface ObjectFile extends Written {
  readonly path: string;
}

/**
 * Writes the next object of a schedule to the disk: the rows behind what is exported, up to the version that an object which was interrupted
 * reaches to, else as far as there are any, or as one object may be; and those that were left out before.
 * @throws DomainError `unavailable`
 */
export async function writeObject(parts: ObjectParts, of: ObjectOf): Promise<ObjectFile> {
  const { schedule, source } = of;
  const path = join(parts.directory, `${schedule.id}.${schedule.format}`);
  await mkdir(parts.directory, { recursive: true, mode: 0o700 });
  await rm(path, { force: true });
  const written = {
    rows: 0,
    to: schedule.exported_to,
    isFull: false,
    leftOut: [] as string[],
    caughtUp: [] as string[],
  };
  const file = fileOf(source, schedule.format, pages(parts, of, written));
  await pipeline(Readable.from(file, { objectMode: false }), createWriteStream(path, { mode: 0o600 }), {
    signal: parts.signal,
  });
  return { path, ...written };
}

type Writing = { -readonly [Name in keyof Written]: Written[Name] } & { leftOut: string[]; caughtUp: string[] };

/** @param written is told what was read */
async function* pages(
  { signal, requireSpace, rest, mostRows = MOST.rows }: ObjectParts,
  { schedule, source, leftOut }: ObjectOf,
  written: Writing,
): AsyncGenerator<readonly string[]> {
  const { object_to: again, exported_to } = schedule;
  const upTo = again ?? source.now();
  if (leftOut.length > 0 && source.settled !== undefined) {
    const { rows, ids } = await source.settled(leftOut, exported_to, signal);
    written.rows += rows.length;
    written.caughtUp.push(...ids);
    if (rows.length > 0) yield rows;
  }
  let from: ChangesFrom = { after: exported_to, width: CHANGES_WIDTH };
  let characters = 0;
  const started = performance.now();
  while (from.after < upTo) {
    const began = performance.now();
    requireSpace();
    const page = await source.page(from, upTo, signal);
    const { rows, next } = page;
    from = next;
    written.rows += rows.length;
    written.leftOut.push(...page.leftOut);
    written.to = next.after;
    characters += rows.reduce((sum, { length }) => sum + length, 0);
    if (rows.length > 0) yield rows;
    await rest(performance.now() - began);
    const isLate = performance.now() - started > MOST.ms;
    written.isFull = again === null && (written.rows >= mostRows || characters >= MOST.characters || isLate);
    if (written.isFull) return;
  }
}
