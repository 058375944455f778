import { constants, setPriority } from 'node:os';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sizeOf } from '../engine/traces/model/backup/manifest.js';
import type { BackupResult } from '../features/backup/snapshot.js';
import { DomainError } from '../engine/errors.js';
import { Backups } from '../features/backup/store/backups.js';
import { copySnapshot, type CopyProgress } from '../features/backup/store/copy-snapshot.js';
import { addressOf, openPlace } from '../features/backup/store/open-place.js';
import type { S3Access } from '../engine/files/s3-client.js';
import { openSnapshot, reportResult, type ControlAddress, type HeldSnapshot } from '../control/control-client.js';

/** The file in `DATA_DIR` that says where a running server's control socket is. */
export const CONTROL_FILE = 'control.path';

/** What a process that a server has make a backup says when that is there, and older ones are about to go. */
export const MADE = 'made';

export interface BackupRun {
  readonly dataDir: string;
  /** A folder, or a bucket as `s3://bucket/prefix`. */
  readonly to: string;
  /** Where that bucket is. */
  readonly s3: S3Access;
  /** How many backups stay there; null: all. */
  readonly keep: number | null;
  readonly progress: CopyProgress;
  /** Called when the backup is there, before older ones go. */
  readonly onMade: (id: string) => void;
}

export interface MadeBackup extends Extract<BackupResult, { done: true }> {
  /** When an earlier backup was begun that was interrupted; what it copied was used. Null: none was. */
  readonly wentOnFrom: string | null;
  /** Images that were lost before. */
  readonly lostImages: number;
  /** Why older backups could not be removed; null: they were. */
  readonly notPruned: string | null;
}

/**
 * Makes a backup of a running server, in a process of its own: the server holds a moment, this one copies it.
 * @throws DomainError; the server knows of it then
 */
export async function makeBackup(run: BackupRun): Promise<MadeBackup> {
  // The server's requests come first.
  setPriority(constants.priority.PRIORITY_LOW);
  const server = await serverOf(run.dataDir);
  const report = (result: BackupResult) => reportResult(server, result).catch(() => undefined);
  try {
    return await copyTo(run, server, report);
  } catch (error) {
    const failure = explained(error, run.to);
    await report({ done: false, reason: failure.message });
    throw failure;
  }
}

async function copyTo(
  run: BackupRun,
  server: ControlAddress,
  report: (result: BackupResult) => Promise<void>,
): Promise<MadeBackup> {
  const { dataDir, to, s3, keep, onMade } = run;
  const started = performance.now();
  requireOutside(dataDir, to);
  return withBackups(to, s3, 'writing', async (backups) => {
    const wentOnFrom = await backups.unfinished();
    const { lostImages, ...copied } = await copyHeld(run, backups, server);
    const result = { done: true, ...copied, seconds: (performance.now() - started) / 1000 } as const;
    // Whatever becomes of this process while older ones go.
    await report(result);
    onMade(result.id);
    const notPruned = keep === null ? null : await backups.prune(keep).then(() => null, messageOf);
    if (notPruned !== null) await report({ notPruned });
    return { ...result, wentOnFrom, lostImages, notPruned };
  });
}

/**
 * Opens the backups that an address names for some work.
 * @param purpose writing: alone, and also where nothing is yet
 * @throws DomainError
 */
export async function withBackups<T>(
  address: string,
  s3: S3Access,
  purpose: 'reading' | 'writing',
  work: (backups: Backups) => Promise<T>,
): Promise<T> {
  const place = await openPlace(address, s3);
  try {
    const backups = await (purpose === 'reading' ? Backups.forReading(place) : Backups.forWriting(place));
    try {
      return await work(backups);
    } finally {
      await backups.close();
    }
  } finally {
    place.close();
  }
}

/** @returns of the manifest, which is long, only what it amounts to */
async function copyHeld({ progress }: BackupRun, backups: Backups, server: ControlAddress) {
  const held = await openSnapshot(server);
  try {
    const options = { ...progress, beforeFinish: () => stillHeld(held) };
    const { manifest, ...copied } = await copySnapshot(held.snapshot, backups, options);
    return { ...copied, id: manifest.id, ...sizeOf(manifest) };
  } catch (error) {
    // What could not be read any more is no fault of the files.
    await stillHeld(held);
    throw error;
  } finally {
    held.release();
  }
}

async function stillHeld(held: HeldSnapshot): Promise<void> {
  // The end of a server is an event, which has to get its turn.
  await nextTurn();
  held.requireHeld();
}

/** A backup inside of what it protects is lost with it. */
function requireOutside(dataDir: string, to: string): void {
  if (addressOf(to).kind === 'bucket') return;
  const way = relative(resolve(dataDir), resolve(to));
  if (way === '' || !(way.startsWith('..') || isAbsolute(way)))
    throw new DomainError('invalid', `${to} is inside DATA_DIR: choose a folder elsewhere, preferably on another disk`);
}

/** The server of a folder, and where it takes commands of this machine. */
export async function serverOf(dataDir: string): Promise<ControlAddress> {
  // Where there is none, asking it says what to do.
  const socketPath = await readFile(join(dataDir, CONTROL_FILE), 'utf8').catch(() => join(dataDir, 'control.sock'));
  return { dataDir, socketPath };
}

function explained(error: unknown, to: string): Error {
  if (error instanceof DomainError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new DomainError(
      'unavailable',
      `The disk of ${to} is full. Free some space and run the backup again: it resumes. ` +
        'To discard the partial backup instead: prune-backups',
      { cause: error },
    );
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return new DomainError('forbidden', `Cannot write to ${to}: ${messageOf(error)}`, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
