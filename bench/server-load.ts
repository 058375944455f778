import { startProgress } from '../scripts/progress.js';
import { sendLoad, type Bodies, type LoadOutcome } from './processes/load.js';
import type { LoadJob } from './processes/load-worker.js';
import type { PlainProcess, ProcessorTime } from './processes/server.js';

export interface ServerLoad extends LoadOutcome {
  readonly cpu: ProcessorTime;
}

/**
 * Sends the bodies, showing how far it is; the processor time is that of everything up to what `settled` waits for.
 * @param target how they are sent; by default with the server's own key
 */
export async function loadServer(
  server: Pick<PlainProcess, 'url' | 'key' | 'cpuMs'>,
  label: string,
  bodies: Bodies,
  target: Pick<LoadJob, 'clients'> & Partial<Pick<LoadJob, 'key' | 'path' | 'contentType'>>,
  settled = () => Promise.resolve(),
): Promise<ServerLoad> {
  const progress = startProgress(label, bodies.ends.length, 'requests');
  const before = server.cpuMs();
  try {
    const outcome = await sendLoad(bodies, { url: server.url, key: server.key, ...target }, (done) => {
      progress.update(done);
    });
    progress.update(bodies.ends.length);
    await settled();
    const after = server.cpuMs();
    return { ...outcome, cpu: { server: after.server - before.server, engine: after.engine - before.engine } };
  } finally {
    progress.stop();
  }
}
