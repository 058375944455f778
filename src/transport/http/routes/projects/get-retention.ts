import { Type } from '@sinclair/typebox';
import type { RetentionService } from '../../../../domain/retention/retention-service.js';
import { queryOf } from '../../query.js';
import { defineRoute, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { RetentionRead, retentionRead } from './retention-schema.js';
import { retentionDays, TAG } from './schema.js';

const Query = Type.Object({
  days: Type.Optional(retentionDays('As if traces were kept for so many days. Default: what is set.')),
});

export function getRetentionRoute(retention: Pick<RetentionService, 'forecast'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/retention',
    operationId: 'getRetention',
    summary: 'Get what retention would remove',
    description:
      'Counts what goes by the `retention_days` that is set, or by another one before it is set, and what stays all the same. ' +
      'Nothing is changed. A trace goes as a whole, when nothing in it is newer.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: queryOf(Query),
    responses: { 200: { description: 'What would go.', schema: RetentionRead } },
    errors: ['invalid', 'not_found', 'unavailable'],
    bulk: true,
    handle: async ({ params, query, signal }) => ({
      status: 200,
      body: retentionRead(await retention.forecast(params.project_id, query.days, signal)),
    }),
  });
}
