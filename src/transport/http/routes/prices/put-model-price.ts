import type { PriceService } from '../../../../domain/price/price-service.js';
import { ModelPriceInput } from '../../../../domain/price/schema.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { toPriceRead } from './presenters.js';
import { ModelPriceRead, NewPriceParams, TAG } from './schema.js';

export function putModelPriceRoute(prices: Pick<PriceService, 'put'>): Route {
  return defineRoute({
    method: 'PUT',
    path: '/projects/:project_id/model-prices/:provider/:model+',
    operationId: 'putModelPrice',
    summary: 'Set the price of a model',
    description:
      'From now on, spans of this provider and model that arrive without a cost are priced with this price instead ' +
      'of a list price. Stored costs do not change; see `model-prices:reprice`.',
    tag: TAG,
    access: 'key',
    params: NewPriceParams,
    body: jsonBody(ModelPriceInput),
    responses: {
      200: { description: 'The price was replaced.', schema: ModelPriceRead },
      201: { description: 'The price is new.', schema: ModelPriceRead },
    },
    errors: ['conflict', 'unavailable'],
    handle({ principal, params: { provider, model }, body }) {
      const { price, created } = prices.put(principal, provider, model, body);
      const answer = { body: toPriceRead(price) };
      return created ? { status: 201, ...answer } : { status: 200, ...answer };
    },
  });
}
