import { Type } from '@sinclair/typebox';
import type { Issue } from '../../../../domain/errors.js';
import type { UnpricedModels } from '../../../../domain/price/unpriced-models.js';
import { formatTimestamp } from '../../../../domain/time/timestamp.js';
import { page } from '../../page.js';
import { endTime, time as timeParameter } from '../../parameter.js';
import { queryOf } from '../../query.js';
import { defineRoute, type Route } from '../../route.js';
import { ProjectParams, TAG, UnpricedPage } from './schema.js';

const Query = Type.Object({
  ...page({ maxLimit: 500, defaultLimit: 100 }),
  started_after: Type.Optional(timeParameter('Only calls that started then or later.')),
  started_before: Type.Optional(endTime('Only calls that started then or earlier.')),
});

export function listUnpricedModelsRoute(unpriced: Pick<UnpricedModels, 'list'>): Route {
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
