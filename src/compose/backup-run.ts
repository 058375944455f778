import { constants, setPriority } from 'node:os';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { sizeOf } from '../domain/backup/manifest.js';
import type { BackupResult } from '../domain/backup/snapshot.js';
import { DomainError } from '../domain/errors.js';
import { BackupFolder } from '../storage/backup/backup-folder.js';
import { copySnapshot, type Copied, type CopyProgress } from '../storage/backup/copy-snapshot.js';
import { openSnapshot, reportResult, type HeldSnapshot } from '../transport/control/control-client.js';

/** The file in `DATA_DIR` that says where a running server's control socket is. */
export const CONTROL_FILE = 'control.path';

export interface BackupRun {
  readonly dataDir: string;
  readonly to: string;
  /** How many backups stay in the folder; null: all. */
  readonly keep: number | null;
  readonly progress: CopyProgress;
}

export interface MadeBackup extends Extract<BackupResult, { done: true }> {
  /** When an earlier backup was begun that was cut off; what it copied was used. Null: none was. */
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
  const socket = await controlSocket(run.dataDir);
  const report = (result: BackupResult) => reportResult(socket, result).catch(() => undefined);
  try {
    const made = await copyTo(run, socket);
    const { wentOnFrom: _from, lostImages: _lost, notPruned, ...result } = made;
    await report(result);
    if (notPruned !== null) await report({ done: false, reason: `Older backups could not be removed: ${notPruned}` });
    return made;
  } catch (error) {
    const failure = explained(error, run.to);
    await report({ done: false, reason: failure.message });
    throw failure;
  }
}

async function copyTo(run: BackupRun, socket: string): Promise<MadeBackup> {
  const { dataDir, to, keep } = run;
  const started = performance.now();
  demandOutside(dataDir, to);
  const folder = await BackupFolder.forWriting(to);
  try {
    const wentOnFrom = await folder.unfinished();
    const { manifest, newBytes, lostImages } = await copyHeld(run, folder, socket);
    const seconds = (performance.now() - started) / 1000;
    const notPruned = keep === null ? null : await prune(folder, keep).then(() => null, messageOf);
    return { done: true, id: manifest.id, ...sizeOf(manifest), newBytes, seconds, wentOnFrom, lostImages, notPruned };
  } finally {
    folder.close();
  }
}

async function copyHeld({ progress }: BackupRun, folder: BackupFolder, socket: string): Promise<Copied> {
  const held = await openSnapshot(socket);
  try {
    return await copySnapshot(held.snapshot, folder, { ...progress, beforeFinish: () => stillHeld(held) });
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
  held.demandHeld();
}

/** Removes all but the newest backups, and what no backup holds. @returns bytes freed */
export async function prune(folder: BackupFolder, keep: number): Promise<number> {
  const complete = (await folder.list()).filter(({ manifest }) => manifest !== null);
  const old = complete.slice(0, Math.max(0, complete.length - keep));
  for (const { id } of old) await folder.remove(id);
  return old.length === 0 && (await folder.unfinished()) === null ? 0 : folder.collect();
}

/** A backup inside of what it protects is lost with it. */
function demandOutside(dataDir: string, to: string): void {
  const way = relative(resolve(dataDir), resolve(to));
  if (way === '' || !(way.startsWith('..') || isAbsolute(way)))
    throw new DomainError('invalid', `${to} is inside DATA_DIR: name a folder elsewhere, best on another disk`);
}

/** The control socket of the server that runs on a `DATA_DIR`; where none does, one that nobody answers on. */
export async function controlSocket(dataDir: string): Promise<string> {
  // Where there is none, asking it says what to do.
  return readFile(join(dataDir, CONTROL_FILE), 'utf8').catch(() => join(dataDir, 'control.sock'));
}

function explained(error: unknown, to: string): Error {
  if (error instanceof DomainError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new DomainError(
      'unavailable',
      `The disk of ${to} is full. Make room and run the backup again: it goes on with what is there. ` +
        'To remove that instead: prune-backups',
      { cause: error },
    );
  if (code === 'EACCES' || code === 'EROFS' || code === 'EPERM')
    return new DomainError('forbidden', `${to} cannot be written: ${messageOf(error)}`, { cause: error });
  return error instanceof Error ? error : new Error(String(error));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
