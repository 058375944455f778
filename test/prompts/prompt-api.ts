import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { IdentityService } from '../../src/engine/identity/identity-service.js';
import { DATABASE_FILE, openDatabase } from '../../src/engine/metadata/database.js';
import { SqliteIdentityStore } from '../../src/engine/identity/store/identity-store.js';
import { send, type TestRequest, type TestServer } from '../harness/server.js';

export const sha256 = (content: string) => createHash('sha256').update(content, 'utf8').digest('hex');

/** The prompt endpoints of one server, spelled once. */
export function promptApi(server: Pick<TestServer, 'url' | 'key' | 'projectId'>, key: string = server.key) {
  const request = (method: string, path: string, options: TestRequest = {}) =>
    send(server.url + path, method, { key, ...options });
  const slugOf = encodeURIComponent;
  const inProject = (slug: string) => `/projects/${server.projectId}/prompts/${slugOf(slug)}`;
  return {
    get: (slug: string, query = '') => request('GET', `/v1/prompts/${slugOf(slug)}${query}`),
    ensure: (slug: string, body: unknown) =>
      request('POST', `/v1/tasks/${slugOf(slug)}/prompt/versions/ensure`, { body }),
    byHash: (slug: string, hash: string) => request('GET', `/v1/tasks/${slugOf(slug)}/prompt/versions/by-hash/${hash}`),
    latest: (slug: string) => request('GET', `/v1/tasks/${slugOf(slug)}/prompt/latest`),
    model: (id: string) => request('GET', `/v1/prompt-versions/${id}/model`),
    list: (query = '') => request('GET', `/projects/${server.projectId}/prompts${query}`),
    versions: (slug: string) => request('GET', `${inProject(slug)}/versions`),
    bind: (slug: string, version: number | string, body: unknown) =>
      request('PATCH', `${inProject(slug)}/versions/${version}`, { body }),
    remove: (slug: string, version: number | string) => request('DELETE', `${inProject(slug)}/versions/${version}`),
    tags: (slug: string) => request('GET', `${inProject(slug)}/tags`),
    pin: (slug: string, tag: string, version: unknown) =>
      request('POST', `${inProject(slug)}/tags/${tag}:pin`, { body: { version } }),
    removeTag: (slug: string, tag: string) => request('DELETE', `${inProject(slug)}/tags/${tag}`),
    history: (slug: string, tag: string, query = '') =>
      request('GET', `${inProject(slug)}/tags/${tag}/history${query}`),
  };
}

/** A further project with a key, made by another connection to the same file, as the admin program does. */
export function secondProject(server: Pick<TestServer, 'dataDir'>): { projectId: string; key: string } {
  const database = openDatabase(join(server.dataDir, DATABASE_FILE));
  const identity = new IdentityService({ store: new SqliteIdentityStore(database) });
  try {
    const project = identity.createProject({ name: 'Second' });
    const user = identity.listUsers()[0] ?? identity.createUser({ name: 'Somebody' });
    return {
      projectId: project.id,
      key: identity.createKey({ projectId: project.id, userId: user.id, name: 'second' }).key,
    };
  } finally {
    identity.close();
    database.close();
  }
}
