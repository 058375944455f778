import { mkdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesBelow } from './data-dir.js';
import { startServerProcess } from './processes/server.js';
import { figure, percentile } from './figures.js';
import { FILLED, IMPORTED, WRITTEN } from './years-data.js';
import { requireSame, said } from './years-figures.js';
import { admin, type Done, type Scene, type Step } from './years-scene.js';
import { Trickle, type Felt } from './years-trickle.js';

interface Exported {
  readonly counts: { readonly spans: number };
  readonly figures: object | null;
}

interface Imported {
  readonly parts: readonly { readonly part: string; readonly stored: number }[];
}

const { small } = FILLED;
const NOBODY = { felt: (): Felt => ({ writes: [], reads: [], failures: [] }), stop: () => Promise.resolve() };
const p50 = (latencies: readonly number[]) => figure(percentile(latencies, 50));
const fileOf = (scene: Scene) => join(scene.scratch, 'project.ndjson.gz');

async function exportOne(scene: Scene): Promise<Done> {
  const before = await said(scene.url, small);
  const file = fileOf(scene);
  const command = ['export', small.id, file, '--url', scene.url, '--key', small.key];
  const { result, timing } = await scene.timed(() => admin<Exported>(scene.dataDir, command));
  if (result.figures === null) throw new Error('the export compared no figures, though nobody wrote to the project');
  const equal = requireSame(small.name, before, await said(scene.url, small));
  return { spans: result.counts.spans, bytes: (await stat(file)).size, timing, equal };
}

/** Into another installation, with clients that are timed, or none. */
async function importOne(scene: Scene, besideClients: boolean): Promise<Done> {
  const before = await said(scene.url, small);
  const dataDir = join(scene.scratch, 'imported');
  await mkdir(dataDir);
  for (const { id, key } of [WRITTEN, IMPORTED]) {
    const env = { SPANHOUSE_INIT_PROJECT_ID: id, SPANHOUSE_INIT_API_KEY: key };
    await (await startServerProcess({ dataDir, env })).stop();
  }
  const env = { SPANHOUSE_INIT_PROJECT_ID: WRITTEN.id, SPANHOUSE_INIT_API_KEY: WRITTEN.key };
  const server = await startServerProcess({ dataDir, env });
  const trickle = besideClients ? new Trickle(server.url, { writer: WRITTEN, reader: IMPORTED }) : NOBODY;
  try {
    const command = ['import', fileOf(scene), '--url', server.url, '--key', IMPORTED.key];
    const { result, timing } = await scene.timed(() => admin<Imported>(scene.dataDir, command), trickle);
    const after = besideClients ? await scene.quiet(trickle) : null;
    const equal = requireSame(small.name, before, await said(server.url, IMPORTED));
    const spans = result.parts.find(({ part }) => part === 'spans')?.stored ?? 0;
    const note =
      after === null ? {} : { note: `p50 in the quiet behind it: ${p50(after.writes)}, ${p50(after.reads)}` };
    return { spans, bytes: await bytesBelow(dataDir), timing, equal, ...note };
  } finally {
    await trickle.stop();
    await server.stop();
    await rm(dataDir, { recursive: true });
  }
}

export const TRANSFER_STEPS: readonly Step[] = [
  { name: 'export', needs: [], run: exportOne },
  { name: 'import-alone', needs: ['export'], run: (scene) => importOne(scene, false) },
  { name: 'import', needs: ['export'], run: (scene) => importOne(scene, true) },
];
