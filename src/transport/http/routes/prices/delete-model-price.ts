import type { PriceService } from '../../../../domain/price/price-service.js';
import { defineRoute, type Route } from '../../route.js';
import { PriceParams, TAG } from './schema.js';

export function deleteModelPriceRoute(prices: Pick<PriceService, 'remove'>): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/model-prices/:provider/:model+',
    operationId: 'deleteModelPrice',
    summary: 'Delete the price of a model',
    description: 'From now on, the list price applies again. Stored costs do not change; see `model-prices:reprice`.',
    tag: TAG,
    access: 'key',
    params: PriceParams,
    responses: { 204: { description: 'The price is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params: { provider, model } }) {
      prices.remove(principal, provider, model);
      return { status: 204 };
    },
  });
}
