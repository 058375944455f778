import type { PriceService } from '../../../../domain/price/price-service.js';
import { defineRoute, type Route } from '../../route.js';
import { toPriceRead } from './presenters.js';
import { ModelPriceRead, PriceParams, TAG } from './schema.js';

export function getModelPriceRoute(prices: Pick<PriceService, 'get'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/model-prices/:provider/:model+',
    operationId: 'getModelPrice',
    summary: 'Get the price of a model',
    description:
      "Returns the project's custom price of the model, with its list price. Returns 404 if the model has no custom " +
      'price.',
    tag: TAG,
    access: 'key',
    params: PriceParams,
    responses: { 200: { description: 'The price.', schema: ModelPriceRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, provider, model } }) => ({
      status: 200,
      body: toPriceRead(prices.get(project_id, provider, model)),
    }),
  });
}
