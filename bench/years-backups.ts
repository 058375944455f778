import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { requestBodies } from './bodies.js';
import { bytesBelow } from './data-dir.js';
import { startServerProcess } from './processes/server.js';
import { loadServer } from './server-load.js';
import { FILLED, WRITTEN } from './years-data.js';
import { requireAllSame, saidOfAll, type Said } from './years-figures.js';
import { admin, type Done, type Scene, type Step } from './years-scene.js';

interface Backup {
  readonly spans: number;
  readonly new_mb: number;
}

const MEGABYTE = 1024 * 1024;
/** Share of the spans that are written before the second backup. */
const MORE = 0.01;
const SEED = 815;

const folderOf = (scene: Scene) => join(scene.scratch, 'backups');

async function backUp(scene: Scene): Promise<Done> {
  const before = await saidOfAll(scene.url);
  const { result, timing } = await scene.timed(() => admin<Backup>(scene.dataDir, ['backup', folderOf(scene)]));
  const equal = requireAllSame(before, await saidOfAll(scene.url));
  return { spans: result.spans, bytes: result.new_mb * MEGABYTE, timing, equal };
}

async function backUpMore(scene: Scene): Promise<Done> {
  const bodies = requestBodies(SEED, Math.ceil(scene.filled.spans * MORE));
  const target = { url: scene.url, key: FILLED.large.key, cpuMs: () => ({ server: NaN, engine: NaN }) };
  await loadServer(target, 'writing more spans', bodies, { clients: 4 });
  return backUp(scene);
}

async function verify(scene: Scene): Promise<Done> {
  const before = await saidOfAll(scene.url);
  const command = ['verify-backup', folderOf(scene)];
  const { result, timing } = await scene.timed(() => admin<Backup>(scene.dataDir, command));
  const equal = requireAllSame(before, await saidOfAll(scene.url));
  return { spans: result.spans, bytes: await bytesBelow(folderOf(scene)), timing, equal };
}

async function restore(scene: Scene): Promise<Done> {
  const before = await saidOfAll(scene.url);
  const target = join(scene.scratch, 'restored');
  await mkdir(target);
  const { result, timing } = await scene.timed(() => admin<Backup>(target, ['restore', folderOf(scene)]));
  const bytes = await bytesBelow(target);
  const equal = requireAllSame(before, await saidOfData(target));
  await rm(target, { recursive: true });
  return { spans: result.spans, bytes, timing, equal };
}

/** What is said of the projects by a server of its own. */
async function saidOfData(dataDir: string): Promise<Map<string, Said>> {
  const init = { SPANHOUSE_INIT_PROJECT_ID: WRITTEN.id, SPANHOUSE_INIT_API_KEY: WRITTEN.key };
  const server = await startServerProcess({ dataDir, env: init });
  try {
    return await saidOfAll(server.url);
  } finally {
    await server.stop();
  }
}

export const BACKUP_STEPS: readonly Step[] = [
  { name: 'backup', needs: [], run: backUp },
  { name: 'incremental', needs: ['backup'], run: backUpMore },
  { name: 'verify', needs: ['backup'], run: verify },
  { name: 'restore', needs: ['backup'], run: restore },
];
