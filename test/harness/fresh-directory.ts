import { copyFileSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A data directory in which the runner has had all tables created, see `test/harness/template.ts`. */
const TEMPLATE = process.env['SPANHOUSE_TEST_TEMPLATE'];

/**
 * A data directory for a first start. In a run of many files it has empty tables already, made by the same migrations:
 * creating them would take every start as long as all else.
 */
export async function freshDataDir(prefix: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  if (TEMPLATE !== undefined) copied(TEMPLATE, directory);
  return directory;
}

/** As {@link freshDataDir}, of the engine alone. */
export async function freshEngineDir(prefix: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  if (TEMPLATE !== undefined) copied(join(TEMPLATE, 'clickhouse'), directory);
  return directory;
}

/** Removes a data directory: the engine of a server that was killed ends a moment later, and writes until then. */
export async function removeDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** In one go: `cp` of `fs` takes a fifth of a start's processor time for the engine's hundreds of small files. */
function copied(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) {
      mkdirSync(target, { mode: 0o700 });
      copied(source, target);
    } else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else copyFileSync(source, target);
  }
}
