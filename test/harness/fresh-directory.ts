import { cp, mkdtemp, rm } from 'node:fs/promises';
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
  if (TEMPLATE !== undefined) await copied(TEMPLATE, directory);
  return directory;
}

/** As {@link freshDataDir}, of the engine alone. */
export async function freshEngineDir(prefix: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), prefix));
  if (TEMPLATE !== undefined) await copied(join(TEMPLATE, 'clickhouse'), directory);
  return directory;
}

/** Removes a data directory: the engine of a server that was killed ends a moment later, and writes until then. */
export async function removeDirectory(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

async function copied(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true, verbatimSymlinks: true });
}
