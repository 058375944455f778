import { DateTime } from 'luxon';

/** Microseconds since 1970-01-01T00:00:00Z, a safe integer: the resolution in which all times are kept. */
export type Micros = number;

/** Latest time, 2254-12-31T23:59:59.999999Z: from mid 2255 on, numbers no longer hold every microsecond. */
export const MAX_MICROS: Micros = Date.UTC(2254, 11, 31, 23, 59, 59, 999) * 1000 + 999;

/** Numbers from here up are milliseconds; below they are seconds (as seconds this would be the year 2603). */
const FIRST_MILLISECONDS = 2e10;

const COMMON =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,30}))?)?)?(?:([Zz])|([+-])(\d\d):?(\d\d)?)?$/;

/**
 * Reads a moment: ISO 8601 with or without offset (without: UTC), or a number of Unix seconds or milliseconds.
 * Finer fractions are rounded to microseconds.
 * @returns undefined when it is none, or lies outside 1970 to 2254.
 */
export function parseTimestamp(value: unknown): Micros | undefined {
  if (typeof value === 'number') return inRange(Math.round(value * (value < FIRST_MILLISECONDS ? 1e6 : 1e3)));
  if (typeof value !== 'string') return undefined;
  const match = COMMON.exec(value);
  return inRange(match ? fromParts(match) : fromRareForm(value));
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,3})?$/i;

/** Reads a moment from a query parameter, which is always text: as ISO 8601 where possible, else as a number. */
export function parseTimestampText(text: string): Micros | undefined {
  // A `+` of an offset that no one encoded arrives as a blank.
  const repaired = text.replace(/ (\d\d:?\d\d)$/, '+$1');
  return parseTimestamp(repaired) ?? (NUMBER.test(text) ? parseTimestamp(Number(text)) : undefined);
}

function fromParts(match: RegExpExecArray): Micros | undefined {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction, , sign, offsetHour, offsetMinute = '0'] =
    match;
  const h = Number(hour);
  const m = Number(minute);
  const s = Number(second);
  if (h > 23 || m > 59 || s > 59) return undefined;
  const date = Date.UTC(Number(year), Number(month) - 1, Number(day));
  if (new Date(date).getUTCMonth() !== Number(month) - 1 || Number(day) === 0) return undefined;
  let micros = (date + ((h * 60 + m) * 60 + s) * 1000) * 1000;
  if (fraction !== undefined) micros += Math.round(Number(`0.${fraction}`) * 1e6);
  if (sign === undefined) return micros;
  if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60e6;
  return sign === '-' ? micros + offset : micros - offset;
}

/** Rare forms of ISO 8601. A year comes first: a time of day alone is ISO 8601 too, but no moment. */
const RARE = /^(\d{4}(?:-?\d\d(?:-?\d\d)?|-?\d{3}|-?W\d\d(?:-?\d)?)?(?:T[\d:]+)?)(?:[.,](\d{1,30}))?(Z|[+-][\d:]+)?$/i;

/** A moment from rare forms of ISO 8601, which hardly any client sends: week dates, ordinal dates and basic format. */
function fromRareForm(value: string): Micros | undefined {
  const [, moment = '', fraction = '0', offset = ''] = RARE.exec(value) ?? [];
  if (moment === '') return undefined;
  const parsed = DateTime.fromISO(moment + offset, { zone: 'utc' });
  return parsed.isValid ? parsed.toMillis() * 1000 + Math.round(Number(`0.${fraction}`) * 1e6) : undefined;
}

function inRange(micros: Micros | undefined): Micros | undefined {
  return micros !== undefined && micros >= 0 && micros <= MAX_MICROS ? micros : undefined;
}

/** The second that was formatted last: spans of one request begin and end, and are stored, within few of them. */
let lastSecond = { second: -1, text: '' };

/** A time as ISO 8601 in UTC with six decimals and `Z`, such as `2026-01-31T10:00:00.123456Z`. */
export function formatTimestamp(micros: Micros): string {
  const second = Math.floor(micros / 1e6);
  if (second !== lastSecond.second) lastSecond = { second, text: new Date(second * 1000).toISOString().slice(0, 20) };
  return `${lastSecond.text}${String(micros - second * 1e6).padStart(6, '0')}Z`;
}

/** The same, where null stands for no time. */
export function formatOptionalTimestamp(micros: Micros | null): string | null {
  return micros === null ? null : formatTimestamp(micros);
}
