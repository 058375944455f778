import type { PriceService } from '../../../../domain/price/price-service.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { toPriceRead } from './presenters.js';
import { ModelPriceRead, ProjectParams, TAG } from './schema.js';

export function listModelPricesRoute(prices: Pick<PriceService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/model-prices',
    operationId: 'listModelPrices',
    summary: 'List custom prices',
    description:
      "Returns the project's custom prices, each with the list price of its model, sorted by provider and model. A " +
      'project has at most 10,000.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    responses: {
      200: listOf(ModelPriceRead, 'The prices.'),
    },
    errors: ['unavailable'],
    handle: ({ params }) => ({ status: 200, body: prices.list(params.project_id).map(toPriceRead) }),
  });
}
