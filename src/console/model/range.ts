/**
 * The time range of a view, as its address has it: `range=24h`, or `from` and `to`. Without one, everything is meant on
 * lists of what a filter names, and the last day elsewhere.
 */
export const RANGES = {
  '15m': '15 minutes',
  '1h': 'hour',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
} as const;

export type RangeName = keyof typeof RANGES;

/** Parameters that say a range, and are none of the API. */
export const RANGE_PARAMETERS = ['range', 'from', 'to'] as const;

export interface TimeRange {
  /** A length counted back from now, such as `24h`; `all` for no bound; null where `from` and `to` say it. */
  readonly range: string | null;
  readonly from: string | null;
  readonly to: string | null;
}

export const DEFAULT_RANGE = '24h';

export function rangeOf(query: URLSearchParams): TimeRange {
  const [from, to] = [query.get('from'), query.get('to')];
  if (from !== null || to !== null) return { range: null, from, to };
  return { range: query.get('range') ?? DEFAULT_RANGE, from: null, to: null };
}

/** The bounds as parameters of the API, which takes `24h` for `24 hours ago`. */
export function boundsOf({ range, from, to }: TimeRange): Record<string, string> {
  if (range !== null) return range === 'all' ? {} : { started_after: range };
  return { ...(from !== null && { started_after: from }), ...(to !== null && { started_before: to }) };
}

export function isRangeName(range: string): range is RangeName {
  return range in RANGES;
}

export function rangeLabel({ range, from, to }: TimeRange, write: (time: string) => string): string {
  if (range === 'all') return 'All time';
  if (range !== null) return `Last ${isRangeName(range) ? RANGES[range] : range}`;
  if (from === null) return `Until ${write(to ?? '')}`;
  return to === null ? `Since ${write(from)}` : `${write(from)} – ${write(to)}`;
}
