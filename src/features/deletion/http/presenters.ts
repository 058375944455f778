import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import { toJobRead } from '../../../http/job-presenters.js';
import type { DeletionJobRead, DeletionPlanRead } from '../schema.js';
import type { SelectedDeletion, SelectedObjects } from '../selected-deletion-job.js';
import type { DeletionPlan } from '../selected-deletion-service.js';

export function toPlanRead(plan: DeletionPlan): DeletionPlanRead {
  return { ...toFoundRead(plan), confirm: plan.confirm, expires_at: formatTimestamp(plan.expiresAt) };
}

export function toDeletionRead(job: SelectedDeletion): DeletionJobRead {
  return { ...toJobRead(job), ...toFoundRead(job), deleted: job.deleted };
}

function toFoundRead({ list, query, found }: SelectedObjects) {
  return {
    ...{ list, query },
    up_to: formatTimestamp(found.upTo),
    ...{ traces: found.traces, spans: found.spans, sessions: found.sessions },
    cost: found.cost === null ? null : Number(found.cost),
    oldest_started_at: formatOptionalTimestamp(found.oldest),
    newest_started_at: formatOptionalTimestamp(found.newest),
  };
}
