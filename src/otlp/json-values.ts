import { DomainError } from '../engine/errors.js';
import type { Micros } from '../engine/timestamp.js';
import { plainDouble } from './budget.js';

// Readers of single values in OTLP/JSON, by the rules of proto3's JSON mapping.

/** An object as JSON.parse makes it. */
export type Json = Readonly<Record<string, unknown>>;

const NOTHING: readonly unknown[] = [];
const EMPTY: Json = {};

function malformed(name: string, expected: string): DomainError {
  return new DomainError('malformed', `${name} must be ${expected}`);
}

/** An object. @throws DomainError `malformed`, as every reader here, naming the member */
export function record(value: unknown, name: string): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed(name, 'an object');
  return value as Json;
}

/** An object; what is absent is an empty one. */
export function optional(value: unknown, name: string): Json {
  return value === undefined || value === null ? EMPTY : record(value, name);
}

/** An array; what is absent is an empty one. */
export function list(value: unknown, name: string): readonly unknown[] {
  if (value === undefined || value === null) return NOTHING;
  if (!Array.isArray(value)) throw malformed(name, 'an array');
  return value;
}

/** A string; what is absent is an empty one. */
export function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  if (value === undefined || value === null) return '';
  throw malformed(name, 'a string');
}

/** True or false. */
export function boolean(value: unknown, name: string): boolean {
  if (typeof value !== 'boolean') throw malformed(name, 'true or false');
  return value;
}

const DECIMAL = /^-?\d{1,19}$/;
const INT64_RANGE = 2 ** 63;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** A 64-bit integer: as text where a JavaScript number would not hold it. */
export function integer(value: unknown, name: string): number | string {
  if (typeof value === 'number' && Number.isInteger(value) && value >= -INT64_RANGE && value < INT64_RANGE) {
    // beyond 2^53 JSON.parse has rounded; what it gives is kept in the form every other large integer has
    return Number.isSafeInteger(value) ? value + 0 : BigInt.asIntN(64, BigInt(value)).toString();
  }
  if (typeof value === 'string' && DECIMAL.test(value)) {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number + 0;
    const exact = BigInt(value);
    if (exact >= INT64_MIN && exact <= INT64_MAX) return exact.toString();
  }
  throw malformed(name, 'a 64-bit integer, as a number or as text');
}

/** A number; as text where JSON has none for it. */
export function double(value: unknown, name: string): number | string {
  if (typeof value === 'number') return plainDouble(value);
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return value;
  if (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)))
    return plainDouble(Number(value));
  throw malformed(name, 'a number');
}

/** Standard and URL-safe alphabets, with or without padding, are taken; standard with padding is kept. */
export function base64(value: unknown, name: string): string {
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value)) throw malformed(name, 'base64 text');
  return Buffer.from(value, 'base64').toString('base64');
}

/** How many attributes, events or links a client left out. @param protoName the name of the member in the .proto */
export function dropped(entry: Json, name: string, protoName: string): number {
  const value = entry[name] ?? entry[protoName];
  if (value === undefined || value === null) return 0;
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isInteger(number) || number < 0 || number > 0xffff_ffff) {
    throw malformed(name, 'a 32-bit unsigned integer');
  }
  return number;
}

const NANOS = /^\d{1,20}$/;
const NANOS_MAX = 2 ** 64;

/** Nanoseconds, rounded half up to microseconds: exact from text; from a number as exact as JSON.parse left it. */
export function micros(value: unknown, name: string): Micros {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'string' && NANOS.test(value)) {
    const whole = value.length > 3 ? Number(value.slice(0, -3)) : 0;
    return whole + (Number(value.slice(-3)) >= 500 ? 1 : 0);
  }
  if (typeof value === 'number' && value >= 0 && value < NANOS_MAX) return Math.round(value / 1000);
  throw malformed(name, 'nanoseconds since 1970, as text or as a number');
}

/** The numbers of an enum by the names of its values. */
export function enumeration(prefix: string, names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(names.map((name, number) => [prefix + name, number]));
}

/** A name this version does not know is the first value, which always means «unspecified». */
export function enumValue(value: unknown, known: ReadonlyMap<string, number>, name: string): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === 'number' && Number.isInteger(value)) return value | 0;
  if (typeof value === 'string') return known.get(value) ?? (/^\d{1,9}$/.test(value) ? Number(value) : 0);
  throw malformed(name, 'the name or number of an enum value');
}
