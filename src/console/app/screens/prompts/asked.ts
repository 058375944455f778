import { boundsOf, RANGE_PARAMETERS, rangeOf, type TimeRange } from '../../../model/range.js';
import { place } from '../../state/location.js';

/** The time that the view shows: all of it, unless its address says one. */
export function rangeAsked(): TimeRange {
  const { query } = place.value;
  const said = RANGE_PARAMETERS.some((name) => query.has(name));
  return said ? rangeOf(query) : { range: 'all', from: null, to: null };
}

/** The parameters of this view that a call takes, with the bounds of its time. */
export function parametersAsked(names: readonly string[]): Record<string, string> {
  const { query } = place.value;
  const given = names.flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { ...boundsOf(rangeAsked()), ...Object.fromEntries(given) };
}

export function offsetAsked(): number {
  return Math.max(0, Math.trunc(Number(place.value.query.get('offset') ?? 0)) || 0);
}
