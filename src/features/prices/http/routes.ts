import { Type } from '@sinclair/typebox';
import type { Issue } from '../../../engine/errors.js';
import type { PriceService } from '../price-service.js';
import type { RepriceService } from '../reprice-service.js';
import { ModelPriceInput, RepriceInput } from '../schema.js';
import type { UnpricedModels } from '../unpriced-models.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import { page } from '../../../http/page.js';
import { endTime, time as timeParameter } from '../../../http/parameter.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody, listOf, uncheckedJsonBody } from '../../../http/route.js';
import { toPriceRead, toRepriceRead } from './presenters.js';
import {
  JobParams,
  ModelPriceRead,
  NewPriceParams,
  PriceParams,
  ProjectParams,
  RepriceJobRead,
  TAG,
  UnpricedPage,
} from './schema.js';

/** A project's own prices, and stored costs recalculated with them. */
export function priceRoutes(prices: PriceService, reprices: RepriceService, unpriced: UnpricedModels) {
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

function listModelPricesRoute(prices: Pick<PriceService, 'list'>) {
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

const Query = Type.Object({
  ...page({ maxLimit: 500, defaultLimit: 100 }),
  started_after: Type.Optional(timeParameter('Only calls that started then or later.')),
  started_before: Type.Optional(endTime('Only calls that started then or earlier.')),
});

function listUnpricedModelsRoute(unpriced: Pick<UnpricedModels, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/model-prices:unpriced',
    operationId: 'listUnpricedModels',
    summary: 'List unpriced models',
    description:
      'Returns models of calls with known tokens but no cost: their price is unknown, or was unknown when the calls ' +
      'arrived.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: queryOf(Query, {
      check,
      to: ({ started_after: from = null, started_before: to = null, ...window }) => ({ times: { from, to }, window }),
    }),
    responses: { 200: { description: 'A page of models.', schema: UnpricedPage } },
    errors: ['unavailable'],
    bulk: true,
    async handle({ params, query: { times, window }, signal }) {
      const { models, total } = await unpriced.list(params.project_id, times, window, signal);
      const read = models.map(({ latest, ...model }) => ({ ...model, latest_started_at: formatTimestamp(latest) }));
      return { status: 200, body: { models: read, total, ...window } };
    },
  });
}

function check({
  started_after: from,
  started_before: to,
}: {
  started_after?: number;
  started_before?: number;
}): Issue[] {
  if (from === undefined || to === undefined || from <= to) return [];
  return [{ pointer: '?started_before', detail: 'must not be before started_after' }];
}

function putModelPriceRoute(prices: Pick<PriceService, 'put'>) {
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

function getModelPriceRoute(prices: Pick<PriceService, 'get'>) {
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

function deleteModelPriceRoute(prices: Pick<PriceService, 'remove'>) {
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

function createRepriceRoute(reprices: Pick<RepriceService, 'create'>) {
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

function listRepricesRoute(reprices: Pick<RepriceService, 'list'>) {
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

function getRepriceRoute(reprices: Pick<RepriceService, 'get'>) {
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

function cancelRepriceRoute(reprices: Pick<RepriceService, 'cancel'>) {
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
