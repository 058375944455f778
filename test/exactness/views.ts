import { isDeepStrictEqual } from 'node:util';
import { differenceOf } from './comparison.js';
import type { Recount } from './model.js';
import type { Listed } from './sent.js';
import { spanKey, type Read } from './stored-span.js';
import { decimal } from './units.js';

/** A list as it is asked for. */
export interface View {
  readonly list: Listed;
  /** Of the query string, what chooses and sorts. */
  readonly parameters: string;
  /** Whether it lists what a recount says is there. */
  readonly holds: (read: Read) => boolean;
  /** The field it is sorted by: the largest first, nulls last. */
  readonly sort: string;
}

const LIMITS: Readonly<Record<Listed, number>> = { spans: 10_000, traces: 500, sessions: 500 };

export function whole(list: Listed): View {
  return { list, parameters: '', holds: () => true, sort: list === 'sessions' ? 'created_at' : 'started_at' };
}

export function where(list: Listed, field: string, value: string | boolean): View {
  return { ...whole(list), parameters: `&${field}=${value}`, holds: (read) => read[field] === value };
}

export const tracesByCost: View = { ...whole('traces'), parameters: '&sort_by=cost', sort: 'cost' };

export function pathOf({ list, parameters }: View): string {
  return `/${list}?limit=${LIMITS[list]}${parameters}`;
}

/** What distinguishes an answer from a recount; null: nothing does. */
export function disagreement(view: View, answers: readonly Read[], recount: Recount): string | null {
  const expected = new Map(
    [...recount[view.list]].filter(([, { variants }]) => variants.some((read) => view.holds(read))),
  );
  const [wanted, listed] = [[...expected.keys()].sort(), answers.map((answer) => keyOf(view.list, answer)).sort()];
  if (!isDeepStrictEqual(listed, wanted)) return `ids must be ${wanted.join(', ')}, were ${listed.join(', ')}`;
  for (const answer of answers) {
    const key = keyOf(view.list, answer);
    const difference = differenceOf(expected.get(key), answer);
    if (difference !== null) return `${key}: ${difference}`;
  }
  const sorted = answers.map((answer) => answer[view.sort]);
  return sorted.every((value, index) => index === 0 || !isLarger(value, sorted[index - 1]))
    ? null
    : `not sorted by ${view.sort}: ${sorted.map(String).join(', ')}`;
}

export function keyOf(list: Listed, read: Read): string {
  return list === 'spans' ? spanKey(read as { trace_id: unknown; id: unknown }) : String(read['id']);
}

/** Of times, or of costs as decimal texts; null is less than any. */
function isLarger(value: unknown, than: unknown): boolean {
  if (typeof value !== 'string' || typeof than !== 'string') return than === null && value !== null;
  return value.includes('T') ? value > than : decimal(value, 12) > decimal(than, 12);
}
