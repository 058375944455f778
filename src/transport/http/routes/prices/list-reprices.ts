import type { RepriceService } from '../../../../domain/price/reprice-service.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { toRepriceRead } from './presenters.js';
import { ProjectParams, RepriceJobRead, TAG } from './schema.js';

export function listRepricesRoute(reprices: Pick<RepriceService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/model-prices/reprices',
    operationId: 'listReprices',
    summary: 'List the recalculations',
    description: 'Returns the newest hundred jobs that recalculated stored costs, newest first.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: { 200: listOf(RepriceJobRead, 'The jobs.') },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: reprices.list(params.project_id).map(toRepriceRead) }),
  });
}
