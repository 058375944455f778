import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { addressed } from '../test/engine/contract/engines.js';
import { bytesBelow } from './data-dir.js';
import { requireAllSame, saidOfAll } from './years-figures.js';
import { RETENTION } from './years-retention.js';
import { admin, type Done, type Scene, type Step } from './years-scene.js';

/*
 * The spans go to an engine that is known by its URL, and back. To be the last steps: what comes behind them would start the
 * server with other settings.
 */

interface Moved {
  readonly spans: number;
  readonly refused_seconds: number;
}

type Environment = Readonly<Record<string, string>>;

/** There: where the engine is that the spans went to. */
const placeOf = new WeakMap<Scene, Environment>();

async function there(scene: Scene): Promise<Done> {
  const engine = await addressed();
  scene.closers.push(() => engine.stop());
  const { url, username, password, database } = engine.endpoint;
  const account = { CLICKHOUSE_USER: username, CLICKHOUSE_PASSWORD: password, CLICKHOUSE_DATABASE: database };
  placeOf.set(scene, { ...account, CLICKHOUSE_URL: url });
  return moved(scene, url, account, { ...RETENTION, ...account, CLICKHOUSE_URL: url });
}

async function back(scene: Scene): Promise<Done> {
  // What the first move left behind, as it tells operators to.
  await rm(join(scene.dataDir, 'clickhouse'), { recursive: true });
  const { CLICKHOUSE_DATABASE = '', ...server } = placeOf.get(scene) ?? {};
  return moved(scene, 'embedded', { ...server, CLICKHOUSE_DATABASE }, { ...RETENTION, CLICKHOUSE_DATABASE });
}

/** @param afterwards what the server is started with from then on */
async function moved(scene: Scene, to: string, env: Environment, afterwards: Environment): Promise<Done> {
  const before = await saidOfAll(scene.url);
  const { result, timing } = await scene.timed(() => admin<Moved>(scene.dataDir, ['move', '--to', to], env));
  await scene.start(afterwards);
  const equal = requireAllSame(before, await saidOfAll(scene.url));
  const bytes = to === 'embedded' ? await bytesBelow(join(scene.dataDir, 'clickhouse')) : NaN;
  const note = `spans were refused for ${result.refused_seconds} s`;
  return { spans: result.spans, bytes, timing, equal, note };
}

export const MOVE_STEPS: readonly Step[] = [
  { name: 'move', needs: [], run: there },
  { name: 'move-back', needs: ['move'], run: back },
];
