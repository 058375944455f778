import type { PriceService } from '../../../../domain/price/price-service.js';
import type { RepriceService } from '../../../../domain/price/reprice-service.js';
import type { UnpricedModels } from '../../../../domain/price/unpriced-models.js';
import type { Route } from '../../route.js';
import { cancelRepriceRoute } from './cancel-reprice.js';
import { createRepriceRoute } from './create-reprice.js';
import { deleteModelPriceRoute } from './delete-model-price.js';
import { getModelPriceRoute } from './get-model-price.js';
import { getRepriceRoute } from './get-reprice.js';
import { listModelPricesRoute } from './list-model-prices.js';
import { listRepricesRoute } from './list-reprices.js';
import { listUnpricedModelsRoute } from './list-unpriced.js';
import { putModelPriceRoute } from './put-model-price.js';

/** A project's own prices, and stored costs calculated anew with them. */
export function priceRoutes(prices: PriceService, reprices: RepriceService, unpriced: UnpricedModels): Route[] {
  return [
    listModelPricesRoute(prices),
    listUnpricedModelsRoute(unpriced),
    putModelPriceRoute(prices),
    getModelPriceRoute(prices),
    deleteModelPriceRoute(prices),
    createRepriceRoute(reprices),
    listRepricesRoute(reprices),
    getRepriceRoute(reprices),
    cancelRepriceRoute(reprices),
  ];
}
