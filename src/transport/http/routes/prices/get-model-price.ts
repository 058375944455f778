import type { PriceService } from '../../../../domain/price/price-service.js';
import { ModelPriceRead } from '../../../../domain/price/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { PriceParams, TAG } from './schema.js';

export function getModelPriceRoute(prices: Pick<PriceService, 'get'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/model-prices/:provider/:model',
    operationId: 'getModelPrice',
    summary: 'Get the price of a model',
    description: "The project's own price of the model; list prices are not answered here.",
    tag: TAG,
    access: 'key',
    params: PriceParams,
    responses: { 200: { description: 'The price.', schema: ModelPriceRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, provider, model } }) => ({
      status: 200,
      body: prices.get(project_id, provider, model),
    }),
  });
}
