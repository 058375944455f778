import { setTimeout as sleep } from 'node:timers/promises';
import { makeProject, type MadeProject } from './projects.js';
import { bootServer, send, type TestServer } from './server.js';

/** The address and data directory of the server that the runner has started for all files, see `files-server.ts`. */
const SHARED = process.env['SPANHOUSE_TEST_SERVER'];

/**
 * A server with a project of its own, for tests that look at nothing beyond a project: they neither set the server up, nor
 * restart it, nor look at its figures, people and files, nor hold its database for long. In a run of many files, all of these
 * share one server.
 */
export async function sharedServer(): Promise<TestServer> {
  if (SHARED === undefined) return bootServer();
  const { url, dataDir } = JSON.parse(SHARED) as { readonly url: string; readonly dataDir: string };
  const { projectId, key } = await made(dataDir);
  const others = () => Promise.reject(new Error('this server is not yours to stop: take bootServer()'));
  return {
    url,
    port: Number(new URL(url).port),
    grpcPort: null,
    ...{ key, projectId, dataDir },
    request: (method, path, request = {}) => send(url + path, method, { key, ...request }),
    stop: others,
    dispose: () => Promise.resolve(),
  };
}

/** The file may be locked for longer than is waited for it: others write to it, too, on a machine that is busy. */
async function made(dataDir: string, tries = 20): Promise<MadeProject> {
  try {
    return makeProject(dataDir, { name: 'Default project' });
  } catch (error) {
    if (tries === 0) throw error;
    await sleep(500);
    return made(dataDir, tries - 1);
  }
}
