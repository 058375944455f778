import type { Micros } from '../../../timestamp.js';
import type { Span } from '../span/span.js';

/** When an event was, as a number of microseconds whose last three digits order the events of one millisecond. */
export type Stamp = number;

/** The attribute that keeps when each field of a span in parts was said. */
export const STAMPS = 'spanhouse.parts';

/** A value, and when it was said. */
export interface Stamped {
  readonly stamp: Stamp;
  /** Null: it was taken away. */
  readonly value: unknown;
}

/** When the fields of a span were said. */
export interface Stamps {
  /** Of the fields that are there and not in `of`. */
  readonly base: Stamp;
  readonly of: ReadonlyMap<string, Stamp>;
  /** The first event of the span. */
  readonly first: Stamp;
  /** Fields that the span has, but no event said. */
  readonly unsaid: ReadonlySet<string>;
  /** Whether its start is the earliest time at which it was seen. */
  readonly seen: boolean;
  /** Its end as it was said, where that lies before its start. */
  readonly endedAt: Micros | null;
}

/** A span that was not sent in parts: what any event says counts more. */
const WHOLE: Stamps = { base: 0, of: new Map(), first: Infinity, unsaid: new Set(), seen: false, endedAt: null };

/** As it is stored: short names, as every span in parts carries it. */
interface Written {
  readonly first: Stamp;
  readonly base: Stamp;
  readonly later?: readonly (readonly [Stamp, readonly string[]])[];
  readonly unsaid?: readonly string[];
  readonly seen?: true;
  readonly ended_at?: Micros;
  /** When the earliest was received of what is in the span: a deletion of that time takes all of it. */
  readonly since?: Micros;
}

/** @param values all that was said, sorted by name */
export function writeStamps(
  values: readonly (readonly [name: string, value: Stamped])[],
  { first, unsaid, seen, endedAt }: Pick<Stamps, 'first' | 'seen' | 'endedAt'> & { readonly unsaid: readonly string[] },
): Written {
  const named = new Map<Stamp, string[]>();
  const present = new Map<Stamp, number>();
  for (const [name, { stamp, value }] of values) {
    const names = named.get(stamp);
    if (names === undefined) named.set(stamp, [name]);
    else names.push(name);
    if (value !== null) present.set(stamp, (present.get(stamp) ?? 0) + 1);
  }
  const [base = 0] = [...present].sort(([one, ofOne], [other, ofOther]) => ofOther - ofOne || one - other)[0] ?? [];
  const there = new Set(values.flatMap(([name, { value }]) => (value === null ? [] : [name])));
  const later = [...named]
    .map(([stamp, names]) => [stamp, stamp === base ? names.filter((name) => !there.has(name)) : names] as const)
    .filter(([, names]) => names.length > 0)
    .sort(([one], [other]) => one - other);
  return {
    first: Number.isFinite(first) ? first : 0,
    base,
    ...(later.length > 0 && { later }),
    ...(unsaid.length > 0 && { unsaid }),
    ...(seen && { seen: true }),
    ...(endedAt !== null && { ended_at: endedAt }),
  };
}

/** The attributes of a span that holds what was received at a time. */
export function withSince(attributes: Span['attributes'], since: Micros): Span['attributes'] {
  const written = attributes[STAMPS];
  return typeof written === 'object' && written !== null
    ? { ...attributes, [STAMPS]: { ...written, since } }
    : attributes;
}

/** When the earliest was received of what is in a stored span. @param receivedAt when it was written as it is */
export function sinceOf({ attributes }: Pick<Span, 'attributes'>, receivedAt: Micros): Micros {
  const since = (attributes[STAMPS] as Partial<Written> | null | undefined)?.since;
  return isStamp(since) ? Math.min(since, receivedAt) : receivedAt;
}

/** Reads what {@link writeStamps} wrote; anything else, which a client may have sent, says nothing. */
export function readStamps(written: unknown): Stamps {
  if (typeof written !== 'object' || written === null) return WHOLE;
  const { first, base, later = [], unsaid = [], seen, ended_at } = written as Partial<Written>;
  if (!isStamp(first) || !isStamp(base) || !Array.isArray(later) || !Array.isArray(unsaid)) return WHOLE;
  const of = new Map<string, Stamp>();
  for (const each of later as unknown[]) {
    const [stamp, names] = Array.isArray(each) ? (each as unknown[]) : [];
    if (!isStamp(stamp) || !Array.isArray(names)) return WHOLE;
    for (const name of names as unknown[]) if (typeof name === 'string') of.set(name, stamp);
  }
  return {
    ...{ first, base, of, seen: seen === true },
    unsaid: new Set(unsaid.filter((name) => typeof name === 'string')),
    endedAt: isStamp(ended_at) ? ended_at : null,
  };
}

function isStamp(value: unknown): value is Stamp {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
