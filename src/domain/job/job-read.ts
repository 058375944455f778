import { formatTimestamp } from '../time/timestamp.js';
import type { JobHead } from './job.js';

/** How far a job is, as it is answered. */
export function jobRead({ id, state, phase, total, done, error, created_at, finished_at }: JobHead) {
  return {
    id,
    status: state,
    phase,
    total,
    done,
    error,
    created_at: formatTimestamp(created_at),
    finished_at: finished_at === null ? null : formatTimestamp(finished_at),
  };
}
