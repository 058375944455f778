import { DateTime, IANAZone } from 'luxon';
import { invalid } from '../../../validation/validation.js';
import type { Micros } from '../../../timestamp.js';

/** Time in pieces that lie next to each other. */
export interface Buckets {
  readonly seconds: number;
  /** Where each begins, and where the last ends: one more than there are buckets. */
  readonly edges: readonly Micros[];
}

const DAY = 86_400;
export const MAX_BUCKETS = 1000;
const MAX_CHOSEN = 120;
/** The lengths that are chosen among. */
const CHOSEN = [
  ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200],
  ...[1, 2, 7, 14, 28, 91, 364, 1820].map((days) => days * DAY),
];

/** A name as the tz database has them; `Intl` takes offsets, too. */
const NAME = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+){0,2}$/;

/** An IANA time zone as it is usually written, so that luxon keeps no zone twice; undefined: there is none of the name. */
export function timeZoneNamed(name: string): string | undefined {
  if (name.length > 64 || !NAME.test(name)) return undefined;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/**
 * The buckets from one moment to another, both included. They begin at whole multiples of their length on the clocks of the
 * time zone: those of hours with the hours, those of days with the days, those of a week on Mondays. So where clocks change, a
 * bucket of days is an hour longer or shorter.
 *
 * @param seconds how long they are; null: as short as 120 of them allow
 * @throws DomainError `invalid` when there would be too many
 */
export function bucketsBetween(from: Micros, to: Micros, seconds: number | null, timeZone: string): Buckets {
  const [first, last] = [Math.floor(from / 1e6), Math.floor(to / 1e6)];
  if (last < first) return { seconds: seconds ?? 1, edges: [] };
  const fits = (length: number, most: number) => (last - first) / length + 2 <= most;
  const length = seconds ?? CHOSEN.find((chosen) => fits(chosen, MAX_CHOSEN)) ?? DAY * 1820;
  const edges = (last - first) / length > MAX_BUCKETS ? [] : edgesBetween(first, last, length, timeZone);
  if (edges.length === 0 || edges.length - 1 > MAX_BUCKETS)
    throw invalid([
      { pointer: '?bucket', detail: `must be longer: this would create more than ${MAX_BUCKETS} buckets` },
    ]);
  return { seconds: length, edges: edges.map((edge) => edge * 1e6) };
}

/** In whole seconds. */
type Seconds = number;

function edgesBetween(first: Seconds, last: Seconds, length: number, timeZone: string): Seconds[] {
  const clock = length % DAY === 0 ? daysOf(timeZone, length / DAY) : clockOf(timeZone, length);
  const edges = [clock.atOrBefore(first)];
  for (let edge = edges[0] ?? first; edge <= last; edges.push(edge)) edge = clock.after(edge);
  return edges;
}

/** Where buckets may begin. */
interface Edges {
  atOrBefore(time: Seconds): Seconds;
  after(edge: Seconds): Seconds;
}

/** Monday the 5th of January 1970, in days since the first. */
const FIRST_MONDAY = 4;

/** How far the clocks of a time zone are ahead of UTC. */
function offsetsOf(timeZone: string): (time: Seconds) => Seconds {
  const zone = IANAZone.create(timeZone);
  return (time) => Math.round(zone.offset(time * 1000) * 60);
}

/** Clocks that change are looked for so long before and after a midnight: `luxon` looks more often than all else takes. */
const NEAR = 3 * 3600;

/** The beginnings of days, each so many days after another. */
function daysOf(timeZone: string, days: number): Edges {
  const offset = offsetsOf(timeZone);
  const begins = (day: number) => {
    const ahead = offset(day * DAY);
    const midnight = day * DAY - ahead;
    if (offset(midnight - NEAR) === ahead && offset(midnight + NEAR) === ahead) return midnight;
    const date = new Date(day * DAY * 1000);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
    const local = DateTime.fromObject({ year, month, day: date.getUTCDate() }, { zone: timeZone });
    return local.startOf('day').toSeconds();
  };
  const firstOf = (time: Seconds) => {
    const date = Math.floor((time + offset(time)) / DAY);
    return date - modulo(date - FIRST_MONDAY, days);
  };
  return {
    atOrBefore: (time) => begins(firstOf(time)),
    after(edge) {
      for (let day = firstOf(edge) + days; ; day += days) {
        const next = begins(day);
        // A day may be missing, as where the date line moved.
        if (next > edge) return next;
      }
    },
  };
}

/** The moments when the clocks show a multiple of a length; where they skip one, the moment when they do. */
function clockOf(timeZone: string, length: number): Edges {
  const offset = offsetsOf(timeZone);
  const past = (time: Seconds) => modulo(time + offset(time), length);
  const after = (edge: Seconds) => {
    const next = edge + length - past(edge);
    const changed = offset(next) - offset(edge);
    if (changed === 0 || past(next) === 0) return next;
    if (changed < 0) return next + length - past(next);
    const shown = next - past(next);
    return offset(shown) === offset(next) ? shown : next;
  };
  return {
    after,
    atOrBefore(time) {
      const edge = time - past(time);
      if (offset(edge) === offset(time)) return edge;
      // The clocks changed since: from a moment surely before that on.
      const before = edge - length - 2 * 3600;
      let found = before - past(before);
      for (let next = after(found); next <= time; next = after(next)) found = next;
      return found;
    },
  };
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by;
}
