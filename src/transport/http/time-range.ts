import type { Issue } from '../../domain/errors.js';
import { parseTimestampText, type Micros } from '../../domain/time/timestamp.js';

const DAY: Micros = 86_400e6;

/**
 * A bound of time in a query: ISO 8601, or a Unix time; a date alone is its first moment, or as an end its last. Null when
 * there is none, and when it is none: then that is among the issues.
 */
function timeBound(search: URLSearchParams, name: 'start_date' | 'end_date', issues: Issue[]): Micros | null {
  const [text] = search.getAll(name);
  if (text === undefined) return null;
  const at = parseTimestampText(text);
  if (at === undefined) issues.push({ pointer: `?${name}`, detail: 'must be an ISO 8601 time, or a Unix time' });
  if (at === undefined) return null;
  return name === 'end_date' && /^\d{4}-\d\d-\d\d$/.test(text) ? at + DAY - 1 : at;
}

/** Both bounds; also that they do not cross is checked. */
export function timeRange(
  search: URLSearchParams,
  issues: Issue[],
): { readonly start: Micros | null; readonly end: Micros | null } {
  const start = timeBound(search, 'start_date', issues);
  const end = timeBound(search, 'end_date', issues);
  if (start !== null && end !== null && end < start)
    issues.push({ pointer: '?end_date', detail: 'must not be before start_date' });
  return { start, end };
}
