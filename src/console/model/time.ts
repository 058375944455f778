import { NOTHING } from './format.js';

/** A time zone in which times are written: an IANA name. */
export type Zone = string;

type Style = 'time' | 'short' | 'dated' | 'full';

const STYLES: Readonly<Record<Style, Intl.DateTimeFormatOptions>> = {
  time: { hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  short: { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
  dated: { year: 'numeric', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  full: {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    fractionalSecondDigits: 3,
    hourCycle: 'h23',
    timeZoneName: 'short',
  },
};

const formats = new Map<string, Intl.DateTimeFormat>();

/** Of times that are closer, people know the year. */
const HALF_YEAR_MS = 182 * 86_400_000;

/** A time in a zone, with its year unless that is obvious. @param time ISO 8601, or milliseconds since 1970 */
export function writeTime(
  time: string | number | null | undefined,
  zone: Zone,
  style: Style = 'short',
  now: number = Date.now(),
): string {
  if (time === null || time === undefined) return NOTHING;
  const date = new Date(time);
  if (style === 'short' && Math.abs(date.getTime() - now) > HALF_YEAR_MS) style = 'dated';
  const name = `${zone}\n${style}`;
  let format = formats.get(name);
  if (format === undefined)
    formats.set(name, (format = new Intl.DateTimeFormat('en-GB', { ...STYLES[style], timeZone: zone })));
  return Number.isNaN(date.getTime()) ? NOTHING : format.format(date);
}

const MONTH_MS = 30 * 86_400_000;

/** Whether a time is better read as a date than by how long ago it is. */
export function isFarAway(time: string, now: number = Date.now()): boolean {
  return Math.abs(Date.parse(time) - now) > MONTH_MS;
}

/** `3 minutes ago`. */
export function ago(time: string | number, now: number = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000;
  const format = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const)
    if (Math.abs(seconds) >= size) return format.format(Math.trunc(seconds / size), unit);
  return format.format(Math.trunc(seconds), 'second');
}

/** Names of the zone at both ends of a time: two where clocks change in between, such as `GMT+2/GMT+1`. */
export function zoneNames(zone: Zone, from: number, to: number): string {
  return [...new Set([zoneName(zone, from), zoneName(zone, to)])].join('/');
}

/** Name of the zone as people say it, such as `GMT+2` or `UTC`. */
export function zoneName(zone: Zone, at: number = Date.now()): string {
  const parts = new Intl.DateTimeFormat('en-GB', { timeZone: zone, timeZoneName: 'short' }).formatToParts(at);
  return parts.find(({ type }) => type === 'timeZoneName')?.value ?? zone;
}
