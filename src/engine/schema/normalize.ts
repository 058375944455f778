import type { Issue } from '../errors.js';
import { NIL_UUID, uuidOf } from './ids.js';
import type { Tags } from './tags.js';
import { parseTimestamp, type Micros } from '../timestamp.js';

/**
 * Turns checked input into stored form and notes what no schema can say. One per element of a request; its getters
 * return a placeholder where they note an issue, because nothing of such a request is stored.
 */
export class Normalizer {
  private readonly pointer: string;
  private readonly issues: Issue[];

  constructor(pointer: string, issues: Issue[]) {
    this.pointer = pointer;
    this.issues = issues;
  }

  fail(property: string, detail: string): void {
    this.issues.push({ pointer: `${this.pointer}/${property}`, detail });
  }

  /** An id as a lower-case UUID; the nil UUID is no one's, as in OpenTelemetry. */
  id(property: string, value: string): string {
    const id = uuidOf(value);
    if (id === NIL_UUID) this.fail(property, 'must not be the nil UUID');
    return id;
  }

  optionalId(property: string, value: string | null | undefined): string | null {
    return value == null ? null : this.id(property, value);
  }

  time(property: string, value: string | number): Micros {
    const micros = parseTimestamp(value);
    if (micros === undefined) this.fail(property, 'must be an ISO 8601 time or a Unix time, from 1970 to 2254');
    return micros ?? 0;
  }

  optionalTime(property: string, value: string | number | null | undefined): Micros | null {
    return value == null ? null : this.time(property, value);
  }

  /** Notes an issue when `ended_at` lies before `started_at`. */
  order(startedAt: Micros, endedAt: Micros | null): void {
    if (endedAt !== null && endedAt < startedAt) this.fail('ended_at', 'must not be before started_at');
  }
}

type TagInput = Readonly<Record<string, string | number | boolean | null>>;

/**
 * Text without halves of surrogate pairs, which JSON can hold and UTF-8 cannot: they become the replacement character
 * here, and not only on the way into the store, so that the answer to a write is the same as a later read.
 */
export function normalizeText(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

export function optionalText(text: string | null | undefined): string | null {
  return text == null ? null : normalizeText(text);
}

/** Tags as stored: strings as they are, numbers and booleans as their JSON text, nulls dropped. */
export function normalizeTags(input: TagInput | null | undefined): Tags {
  if (input == null) return {};
  for (const key in input) {
    const value = input[key];
    if (typeof value !== 'string' || !value.isWellFormed() || !key.isWellFormed()) return stringTags(input);
  }
  return input as Tags;
}

function stringTags(input: TagInput): Tags {
  const kept = Object.entries(input).filter(([, value]) => value !== null);
  return Object.fromEntries(
    kept.map(([key, value]) => [
      normalizeText(key),
      typeof value === 'string' ? normalizeText(value) : JSON.stringify(value),
    ]),
  );
}

/** Cost as stored, rounded to 1e-12, so that the answer to a write is the same as a later read. */
export function normalizeCost(cost: number): number {
  return positiveZero(Number(cost.toFixed(12)));
}

/** The number, with 0 for minus zero, which bounds from 0 accept. */
export function positiveZero(value: number): number {
  return value === 0 ? 0 : value;
}
