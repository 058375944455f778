import { Type } from '@sinclair/typebox';
import { KEEP_TAG } from '../../../../domain/retention/keep-tag.js';
import type { RetentionForecast, RetentionService } from '../../../../domain/retention/retention-service.js';
import type { TraceCount } from '../../../../domain/retention/old-traces.js';
import { count, orNull, time } from '../../../../domain/schema/parts.js';
import { formatTimestamp } from '../../../../domain/time/timestamp.js';
import { queryOf } from '../../query.js';
import { defineRoute, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';
import { retentionDays, TAG } from './schema.js';

const traces = { traces: count('Traces.'), spans: count('Their spans.') };

export const RetentionRead = Type.Object(
  {
    retention_days: orNull(retentionDays('What is set; null: traces are kept for ever.')),
    days: orNull(retentionDays('What was asked about; null: nothing goes.')),
    before: orNull(time('Traces in which nothing is as new as this go; null: none do.')),
    going: Type.Object(
      { ...traces, estimated_bytes: count('Bytes on disk, estimated by the share of the spans.') },
      { description: 'What would go.' },
    ),
    kept: Type.Object(
      {
        tagged: Type.Object(traces, { description: `Kept by a tag \`${KEEP_TAG}\`.` }),
        with_feedback: Type.Object(traces, {
          description: 'Kept by feedback on one of their spans, and not by a tag.',
        }),
      },
      { description: 'What is as old, and stays.' },
    ),
    next_run_at: orNull(time('When the server looks next; null: never (`RETENTION_INTERVAL_SECONDS` is 0).')),
  },
  { $id: 'Retention', description: 'What retention removes.' },
);

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

function retentionRead({ retention_days, days, before, going, kept, nextRunAt }: RetentionForecast) {
  return {
    retention_days,
    days,
    before: before === null ? null : formatTimestamp(before),
    going: { ...countRead(going), estimated_bytes: going.estimatedBytes },
    kept: { tagged: countRead(kept.tagged), with_feedback: countRead(kept.withFeedback) },
    next_run_at: nextRunAt === null ? null : formatTimestamp(nextRunAt),
  };
}

function countRead({ traces, spans }: TraceCount) {
  return { traces, spans };
}
