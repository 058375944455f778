import type { Zone } from './time.js';

const formats = new Map<Zone, Intl.DateTimeFormat>();

function formatOf(zone: Zone): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: zone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      hourCycle: 'h23',
    });
    formats.set(zone, format);
  }
  return format;
}

/** A time as a clock in the zone shows it, for a field of type `datetime-local`: `2026-11-22T21:07:10`. */
export function clockTime(time: string | number, zone: Zone): string {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(new Date(time))
      .map(({ type, value }) => [type, value]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? '';
  const date = `${part('year').padStart(4, '0')}-${part('month')}-${part('day')}`;
  return `${date}T${part('hour')}:${part('minute')}:${part('second')}`;
}

/**
 * The moment, as ISO 8601 in UTC, at which clocks in the zone show this time. Of two, the first; a time that clocks skip is
 * counted on from before they do. Null: it is no time.
 */
export function momentOf(clock: string, zone: Zone): string | null {
  const wanted = Date.parse(`${clock}Z`);
  if (Number.isNaN(wanted)) return null;
  const ahead = (moment: number) => Date.parse(`${clockTime(moment, zone)}Z`) - Math.floor(moment / 1000) * 1000;
  // The offsets that count around it: one before a change of clocks, one after.
  const candidates = [ahead(wanted - DAY), ahead(wanted + DAY)].map((offset) => wanted - offset);
  const shown = candidates.filter((moment) => moment + ahead(moment) === wanted);
  return new Date(shown.length > 0 ? Math.min(...shown) : (candidates[0] ?? wanted)).toISOString();
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Whether clocks show this time twice, as in the hour after which they were set back. */
export function isShownTwice(time: number, zone: Zone): boolean {
  const shown = clockTime(time, zone);
  return [-HOUR, HOUR].some((other) => clockTime(time + other, zone) === shown);
}

/** The moment at which a bucket of figures ends. Days end with the next one, an hour early or late where clocks change. */
export function bucketEnd(starts: readonly string[], bucket: number, seconds: number, zone: Zone): number {
  const [start, next] = [starts[bucket] ?? '', starts[bucket + 1]];
  if (next !== undefined) return Date.parse(next);
  const length = 1000 * seconds;
  if (length % DAY !== 0) return Date.parse(start) + length;
  const clock = new Date(Date.parse(`${clockTime(start, zone)}Z`) + length).toISOString().replace('Z', '');
  return Date.parse(momentOf(clock, zone) ?? start);
}
