import type { RepriceService } from '../../../../domain/price/reprice-service.js';
import { defineRoute, type Route } from '../../route.js';
import { toRepriceRead } from './presenters.js';
import { JobParams, RepriceJobRead, TAG } from './schema.js';

export function getRepriceRoute(reprices: Pick<RepriceService, 'get'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/model-prices/reprices/:job_id',
    operationId: 'getReprice',
    summary: 'Get a recalculation',
    description: 'Returns state and progress of a job that recalculates stored costs.',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The job.', schema: RepriceJobRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, job_id } }) => ({
      status: 200,
      body: toRepriceRead(reprices.get(project_id, job_id)),
    }),
  });
}
