import { chmodSync, closeSync, fsyncSync, openSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MigrationError, type MigrationFile } from '../files/migration-files.js';
import type { Database } from './database.js';
import type { Signals } from '../signals/signals.js';

/** Copies kept, this one included. */
const KEPT = 2;

/**
 * Copies the database beside itself before migrations change it, as `<name>.before-<first migration>`: the way back to the
 * program from before. A copy is there whole or not at all, and is made again by a start that finds its migration not
 * applied, since the earlier program may have run in between.
 * @throws MigrationError when there is no room for it; nothing is changed then
 */
export function copyBeforeUpgrade(
  database: Database,
  missing: readonly MigrationFile[],
  observer?: Pick<Signals, 'metadataMigrationBegins'>,
): void {
  const file = database.name;
  const copy = `${file}.before-${String(missing[0]?.version).padStart(4, '0')}`;
  const part = `${copy}.part`;
  try {
    rmSync(part, { force: true });
    // Consistent without locking anybody out, and durable once it is synchronized.
    database.prepare('VACUUM INTO ?').run(part);
    chmodSync(part, 0o600);
    synchronized(part);
    renameSync(part, copy);
    synchronized(dirname(file));
  } catch (error) {
    rmSync(part, { force: true });
    throw new MigrationError('failed', refusal(file, error), error);
  }
  removeOlder(file);
  observer?.metadataMigrationBegins({ versions: missing.map(({ version }) => version), copy });
}

function refusal(file: string, error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  const megabytes = Math.ceil((statSync(file, { throwIfNoEntry: false })?.size ?? 0) / 1e6);
  return (
    `The metadata could not be copied before this version changes it (${reason}); nothing was changed. ` +
    `Make room for ${megabytes} MB in ${dirname(file)} and start again.`
  );
}

function synchronized(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Their names sort as their numbers do. */
function removeOlder(file: string): void {
  const copies = readdirSync(dirname(file)).filter((name) => name.startsWith(`${basename(file)}.before-`));
  for (const name of copies.sort().slice(0, -KEPT)) rmSync(join(dirname(file), name), { force: true });
}
