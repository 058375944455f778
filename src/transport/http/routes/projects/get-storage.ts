import type { ProjectStorage } from '../../../../domain/project/project-storage.js';
import { defineRoute, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { StorageRead, TAG } from './schema.js';

export function getStorageRoute(storage: Pick<ProjectStorage, 'read'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/storage',
    operationId: 'getProjectStorage',
    summary: 'Get the storage of a project',
    description:
      'Returns counts of spans, traces and sessions, as their lists count them with `internal=true`, images, and ' +
      'the oldest span. For the whole server, it returns what uses how much space, the space left on its disks, and ' +
      'how long that lasts at the rate of the last day. ClickHouse knows sizes only by table, so bytes of spans are ' +
      'estimated by the share of rows.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: { description: 'What is stored.', schema: StorageRead } },
    errors: ['unavailable'],
    bulk: true,
    handle: async ({ params, signal }) => ({ status: 200, body: await storage.read(params.project_id, signal) }),
  });
}
