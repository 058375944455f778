import type { Issue } from '../../engine/errors.js';
import { formatTimestamp, type Micros } from '../../engine/timestamp.js';
import { invalid } from '../../engine/validation/validation.js';
import type { Part } from './parts.js';

/** How far ahead of this server's clock that of another installation may be. */
const CLOCKS_APART: Micros = 5 * 60e6;

/** Records whose times are those of clients, except for some. */
const OF_CLIENTS: Partial<Record<Part, readonly string[]>> = {
  spans: ['created_at', 'written_at'],
  traces: [],
  sessions: [],
};
/** Records that are told apart by their time: it stays exactly what it was. */
const TOLD_APART_BY_TIME: readonly Part[] = ['tag_moves', 'dataset_tag_moves', 'experiment_tag_moves'];

type Members = Readonly<Record<string, unknown>>;

/** Whether a field holds the time at which a server did something: never one that is to come. */
function isPast(part: Part, name: string): boolean {
  return OF_CLIENTS[part]?.includes(name) ?? (name.endsWith('_at') && name !== 'expires_at');
}

/**
 * Records whose times of servers lie no later than now: where another server's clock is a little ahead, now is taken for them.
 * Whatever is stored is sorted, found and compared by these times, also beside what other clients send.
 * @param records with times as numbers
 * @throws DomainError `invalid` for times that no clock of a server can have said
 */
export function withPastTimes<T extends Members>(part: Part, records: readonly T[], now: Micros): T[] {
  const issues: Issue[] = [];
  const isExact = TOLD_APART_BY_TIME.includes(part);
  const read = records.map((record, index) => {
    const later: Record<string, Micros> = {};
    for (const [name, value] of Object.entries(record)) {
      if (typeof value !== 'number' || value <= now || !isPast(part, name)) continue;
      if (value > now + CLOCKS_APART) issues.push({ pointer: `/${index}/${name}`, detail: detailAt(now) });
      else if (!isExact) later[name] = now;
    }
    return Object.keys(later).length === 0 ? record : { ...record, ...later };
  });
  if (issues.length > 0) throw invalid(issues);
  return read;
}

function detailAt(now: Micros): string {
  return `must not be in the future; the time on this server is ${formatTimestamp(now)}: correct the time, or the wrong clock`;
}
