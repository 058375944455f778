import { Type, type Static } from '@sinclair/typebox';
import { KEEP_TAG } from '../../../engine/traces/model/retention/keep-tag.js';
import type { TraceCount } from '../../../engine/traces/model/retention/old-traces.js';
import type { RetentionForecast } from '../../retention/retention-service.js';
import { count, orNull, time } from '../../../engine/schema/parts.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import { retentionDays } from './schema.js';

const traces = { traces: count('Traces.'), spans: count('Their spans.') };

export const RetentionRead = Type.Object(
  {
    retention_days: orNull(retentionDays('Current setting; null: traces are kept forever.')),
    days: orNull(retentionDays('The value of this preview; null: nothing is removed.')),
    before: orNull(time('Traces in which nothing is as new as this are removed; null: none are.')),
    going: Type.Object(
      { ...traces, estimated_bytes: count('Bytes on disk, estimated by the share of the spans.') },
      { description: 'What would be removed.' },
    ),
    kept: Type.Object(
      {
        tagged: Type.Object(traces, { description: `Kept by a tag \`${KEEP_TAG}\`.` }),
        with_feedback: Type.Object(traces, {
          description: 'Kept because of feedback on one of their spans, and not by a tag.',
        }),
      },
      { description: 'What is as old, but stays.' },
    ),
    next_run_at: orNull(time('When the server looks next; null: never (`RETENTION_INTERVAL_SECONDS` is 0).')),
    clock_ahead_seconds: count(
      "How far the server's clock is ahead of the time that the server can account for. Unless it is 0, nothing is " +
        'removed.',
    ),
  },
  { $id: 'Retention', description: 'What retention removes.' },
);
export type RetentionRead = Static<typeof RetentionRead>;

export function retentionRead(forecast: RetentionForecast): RetentionRead {
  const { retention_days, days, before, going, kept, nextRunAt, clockAheadSeconds } = forecast;
  return {
    retention_days,
    days,
    before: before === null ? null : formatTimestamp(before),
    going: { ...countRead(going), estimated_bytes: going.estimatedBytes },
    kept: { tagged: countRead(kept.tagged), with_feedback: countRead(kept.withFeedback) },
    next_run_at: nextRunAt === null ? null : formatTimestamp(nextRunAt),
    clock_ahead_seconds: clockAheadSeconds,
  };
}

function countRead({ traces, spans }: TraceCount) {
  return { traces, spans };
}
