import { RepriceInput } from '../../../../domain/price/schema.js';
import type { RepriceService } from '../../../../domain/price/reprice-service.js';
import { defineRoute, uncheckedJsonBody, type Route } from '../../route.js';
import { toRepriceRead } from './presenters.js';
import { ProjectParams, RepriceJobRead, TAG } from './schema.js';

export function createRepriceRoute(reprices: Pick<RepriceService, 'create'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/model-prices:reprice',
    operationId: 'repriceSpans',
    summary: 'Recalculate stored costs',
    description:
      'Queues a job that recalculates the costs of stored spans with the current prices. It does not change costs ' +
      'that a client sent, nor spans that a client writes meanwhile. Costs of traces and sessions follow ' +
      'immediately. The job resumes after a restart.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: uncheckedJsonBody(RepriceInput),
    responses: { 202: { description: 'The job.', schema: RepriceJobRead } },
    errors: ['conflict', 'unavailable'],
    handle({ principal, params, body }) {
      const created = toRepriceRead(reprices.create(principal, body));
      const location = `/projects/${params.project_id}/model-prices/reprices/${created.id}`;
      return { status: 202, headers: { Location: location }, body: created };
    },
  });
}
