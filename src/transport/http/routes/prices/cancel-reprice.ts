import type { RepriceService } from '../../../../domain/price/reprice-service.js';
import { defineRoute, type Route } from '../../route.js';
import { toRepriceRead } from './presenters.js';
import { JobParams, RepriceJobRead, TAG } from './schema.js';

export function cancelRepriceRoute(reprices: Pick<RepriceService, 'cancel'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/model-prices/reprices/:job_id:cancel',
    operationId: 'cancelReprice',
    summary: 'Cancel a recalculation',
    description:
      'Costs that were already recalculated stay; spans that are being written at this moment still count as ' +
      '`changed`. A job that has ended cannot be canceled (409).',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The canceled job.', schema: RepriceJobRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ params: { project_id, job_id } }) => ({
      status: 200,
      body: toRepriceRead(reprices.cancel(project_id, job_id)),
    }),
  });
}
