import type { JobHead } from '../engine/work/job.js';
import { formatOptionalTimestamp, formatTimestamp } from '../engine/timestamp.js';

/** How far a job is, as it is answered. */
export function toJobRead({ id, state, phase, total, done, error, created_at, finished_at }: JobHead) {
  return {
    id,
    status: state,
    phase,
    total,
    done,
    error,
    created_at: formatTimestamp(created_at),
    finished_at: formatOptionalTimestamp(finished_at),
  };
}
