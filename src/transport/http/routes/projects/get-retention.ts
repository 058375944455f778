import { Type } from '@sinclair/typebox';
import type { RetentionService } from '../../../../domain/retention/retention-service.js';
import { queryOf } from '../../query.js';
import { defineRoute, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { RetentionRead, retentionRead } from './retention-schema.js';
import { retentionDays, TAG } from './schema.js';

const Query = Type.Object({
  days: Type.Optional(retentionDays('Preview with this number of days. Default: the current setting.')),
});

export function getRetentionRoute(retention: Pick<RetentionService, 'forecast'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/retention',
    operationId: 'getRetention',
    summary: 'Preview retention',
    description:
      'Counts what the current `retention_days` would remove, or another value before you set it, and what stays ' +
      'nevertheless. Changes nothing. A trace is removed as a whole, once nothing in it is newer.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: queryOf(Query),
    responses: { 200: { description: 'The preview.', schema: RetentionRead } },
    errors: ['invalid', 'not_found', 'unavailable'],
    bulk: true,
    handle: async ({ params, query, signal }) => ({
      status: 200,
      body: retentionRead(await retention.forecast(params.project_id, query.days, signal)),
    }),
  });
}
