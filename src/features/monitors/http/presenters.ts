import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import { wordsOf, type Condition } from '../condition.js';
import type { LookBack } from '../look-back.js';
import type { StateChange } from '../monitor.js';
import type { LookedAt } from '../monitor-service.js';
import type { LookBackRead, MonitorRead, StateChangeRead } from '../schema.js';

export function toMonitorRead(monitor: LookedAt): MonitorRead {
  const { id, name, condition, enabled, muted_until, state, alarm, since, last, created_at, created_by } = monitor;
  return {
    ...{ id, name, ...condition, enabled, muted_until: formatOptionalTimestamp(muted_until) },
    summary: wordsOf(condition),
    ...{ state, kept_state: alarm, since: formatTimestamp(since) },
    checked_at: formatOptionalTimestamp(last?.at ?? null),
    ...{ value: last?.value ?? null, count: last?.count ?? null, error: last?.error ?? null },
    ...{ created_at: formatTimestamp(created_at), created_by },
  };
}

export function toChangeRead({ at, state, value, count }: StateChange): StateChangeRead {
  return { at: formatTimestamp(at), state, value, count };
}

export function toLookBackRead({ condition, ...found }: LookBack & { readonly condition: Condition }): LookBackRead {
  const { from, to, checks, without_data, fired, changes, points } = found;
  return {
    ...{ from: formatTimestamp(from), to: formatTimestamp(to), checks, without_data, fired },
    changes: changes.map(toChangeRead),
    points: points.map(({ at, value }) => ({ at: formatTimestamp(at), value })),
    summary: wordsOf(condition),
  };
}
