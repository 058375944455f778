import { MAX_TAGS } from '../../../schema/inputs.js';
import { toJsonText } from '../../../json-text.js';
import type { Tags } from '../../../schema/tags.js';
import type { Micros } from '../../../timestamp.js';
import { plainFields, type PlainField } from '../list/fields.js';
import { NOTHING_SAID, type Span } from '../span/span.js';
import { readStamps, STAMPS, writeStamps, type Stamp, type Stamped } from './stamps.js';

/*
 * Spans that clients send in parts: a beginning, then what came of it. Each field has the value that was said of it last, by the
 * times of the events, not by the order in which they came. So whatever order they come in, and however often, the same span is left.
 */

const FIELDS = [
  ...([
    'parent_span_id',
    'session_id',
    'session_name',
    'name',
    'kind',
    'status',
    'started_at',
    'ended_at',
    'duration_ms',
  ] as const),
  ...(['cost', 'input_data', 'output_data'] as const),
  ...(Object.keys(plainFields) as PlainField[]),
] as const;
type PartialField = (typeof FIELDS)[number];

/** Objects whose members are said one by one. */
const OBJECTS = ['attributes', 'tags', 'trace_tags', 'session_tags'] as const;
type PartialObject = (typeof OBJECTS)[number];

/** The fields that one event says. A member of an object that is null is taken away. */
export type SaidFields = { readonly [F in PartialField]?: Span[F] } & {
  readonly [O in PartialObject]?: Readonly<Record<string, unknown>>;
};

export interface SpanKey {
  readonly trace_id: string;
  readonly id: string;
}

/** A part of a span, as one event says it. What it says nothing of stays. */
export interface PartialSpan extends SpanKey {
  readonly stamp: Stamp;
  readonly said: SaidFields;
  /** A time at which the span was there: unless an event says its start, the earliest of them is. */
  readonly seenAt?: Micros;
}

/** Most members of the objects of a span in parts, also those taken away: each part reads and writes all of them. */
export const MAX_MEMBERS = 5_000;

/** Name of a span whose events say none. */
const UNNAMED = 'unnamed';

/** A span that is being put together. */
export class AssembledSpan {
  readonly #key: SpanKey;
  /** What was said last, by the name of the field, or of the object and its member. */
  readonly #values: Map<string, Stamped>;
  /** How many members its objects have, also those taken away. */
  readonly #members: Record<PartialObject, number> = { attributes: 0, tags: 0, trace_tags: 0, session_tags: 0 };
  #first: Stamp;
  #seenAt: Micros | null;
  #changed = false;

  private constructor(key: SpanKey, values: Map<string, Stamped>, first: Stamp, seenAt: Micros | null) {
    this.#key = key;
    this.#values = values;
    this.#first = first;
    this.#seenAt = seenAt;
    for (const name of values.keys()) this.#count(name);
  }

  #count(name: string): void {
    const dot = name.indexOf('.');
    if (dot !== -1) this.#members[name.slice(0, dot) as PartialObject] += 1;
  }

  /** A span of which nothing is known. */
  static empty({ trace_id, id }: SpanKey): AssembledSpan {
    return new AssembledSpan({ trace_id, id }, new Map(), Infinity, null);
  }

  /** A stored span. What was not said by events counts as said before all of them. */
  static of(span: Span): AssembledSpan {
    const stamps = readStamps(span.attributes[STAMPS]);
    const values = new Map<string, Stamped>();
    const put = (name: string, value: unknown) => {
      if (value === null || value === undefined || stamps.unsaid.has(name)) return;
      values.set(name, { stamp: stamps.of.get(name) ?? stamps.base, value });
    };
    const { cost, cost_calculated, duration_ms, ended_at } = span;
    const stated = {
      ...span,
      cost: cost_calculated === true ? null : cost,
      duration_ms: ended_at === null ? duration_ms : null,
    };
    for (const field of FIELDS) put(field, stated[field]);
    for (const object of OBJECTS)
      for (const [member, value] of Object.entries(span[object]))
        if (member !== STAMPS) put(`${object}.${member}`, value);
    for (const [name, stamp] of stamps.of) if (!values.has(name)) values.set(name, { stamp, value: null });
    if (stamps.endedAt !== null) put('ended_at', stamps.endedAt);
    const seenAt = stamps.seen ? span.started_at : null;
    return new AssembledSpan({ trace_id: span.trace_id, id: span.id }, values, stamps.first, seenAt);
  }

  /** Whether events have changed it. */
  get changed(): boolean {
    return this.#changed;
  }

  /** Adds a part. @returns why it cannot be added, which leaves the span as it is; null: it is */
  add(part: PartialSpan): string | null {
    const refused = this.#refuse(part);
    if (refused === null) this.#add(part);
    return refused;
  }

  #refuse({ said }: PartialSpan): string | null {
    const counts = OBJECTS.map((object) => {
      let count = this.#members[object];
      for (const member in said[object]) if (member !== STAMPS && !this.#values.has(`${object}.${member}`)) count += 1;
      return { object, count };
    });
    const all = counts.reduce((sum, { count }) => sum + count, 0);
    if (all > MAX_MEMBERS) return `would make a span of more than ${MAX_MEMBERS} attributes and tags`;
    const large = counts.find(({ object, count }) => object !== 'attributes' && count > MAX_TAGS);
    return large === undefined ? null : `would make a span of more than ${MAX_TAGS} ${large.object}`;
  }

  #add({ stamp, said, seenAt }: PartialSpan): void {
    if (stamp < this.#first) {
      this.#first = stamp;
      this.#changed = true;
    }
    if (seenAt !== undefined && (this.#seenAt === null || seenAt < this.#seenAt)) {
      this.#seenAt = seenAt;
      this.#changed ||= !this.#values.has('started_at');
    }
    for (const field of FIELDS) {
      const value = said[field];
      if (value !== null && value !== undefined) this.#say(field, { stamp, value });
    }
    for (const object of OBJECTS) {
      const members = said[object];
      if (members === undefined) continue;
      for (const [member, value] of Object.entries(members))
        if (member !== STAMPS && value !== undefined) this.#say(`${object}.${member}`, { stamp, value });
    }
  }

  #say(name: string, said: Stamped): void {
    const known = this.#values.get(name);
    if (known !== undefined && !isLater(said, known)) return;
    if (known === undefined) this.#count(name);
    this.#values.set(name, said);
    this.#changed = true;
  }

  /** The span as it is stored, except for its price. */
  toSpan(): Span {
    const startedAt = this.#value('started_at') ?? this.#seenAt ?? millisecondOf(this.#first);
    const stated = this.#value('ended_at');
    const endedAt = stated === null ? null : Math.max(stated, startedAt);
    const plain = Object.fromEntries(
      (Object.keys(plainFields) as PlainField[]).map((field) => [field, this.#value(field)]),
    ) as Pick<Span, PlainField>;
    return {
      ...this.#key,
      parent_span_id: this.#value('parent_span_id'),
      session_id: this.#value('session_id'),
      session_name: this.#value('session_name'),
      name: this.#value('name') ?? UNNAMED,
      kind: this.#value('kind') ?? 'generic',
      status: this.#value('status'),
      started_at: startedAt,
      ended_at: endedAt,
      duration_ms: endedAt === null ? this.#value('duration_ms') : (endedAt - startedAt) / 1000,
      cost: this.#value('cost'),
      input_data: this.#value('input_data'),
      output_data: this.#value('output_data'),
      ...NOTHING_SAID,
      ...plain,
      ...this.#objects(stated !== null && stated < startedAt ? stated : null),
    };
  }

  #value<F extends PartialField>(field: F): Exclude<Span[F], undefined> | null {
    return (this.#values.get(field)?.value ?? null) as Exclude<Span[F], undefined> | null;
  }

  /** @param endedAt the end as it was said, where the span does not show it */
  #objects(endedAt: Micros | null): Pick<Span, PartialObject> {
    const objects: Record<PartialObject, Record<string, unknown>> = {
      attributes: {},
      tags: {},
      trace_tags: {},
      session_tags: {},
    };
    // In one order: what is stored must not tell in which order events came.
    const names = [...this.#values.keys()].sort();
    for (const name of names) {
      const dot = name.indexOf('.');
      const value = this.#values.get(name)?.value ?? null;
      if (dot === -1 || value === null) continue;
      put(objects[name.slice(0, dot) as PartialObject], name.slice(dot + 1), value);
    }
    const unsaid = ['name', 'kind', 'started_at'].filter((name) => !this.#values.has(name));
    const seen = this.#seenAt !== null && unsaid.includes('started_at');
    const values = names.map((name) => [name, this.#values.get(name) as Stamped] as const);
    put(objects.attributes, STAMPS, writeStamps(values, { first: this.#first, unsaid, seen, endedAt }));
    return objects as Record<PartialObject, Tags>;
  }
}

/** Characters of the texts and attributes of a span. */
export function charactersOf({ input_data, output_data, error_stack, attributes }: Span): number {
  const texts = [input_data, output_data, error_stack].reduce((sum, text) => sum + (text?.length ?? 0), 0);
  return texts + toJsonText(attributes).length;
}

/** Of two values of one time, the greater one counts, so that their order does not. */
function isLater(said: Stamped, known: Stamped): boolean {
  if (said.stamp !== known.stamp) return said.stamp > known.stamp;
  if (said.value === known.value || known.value === null) return said.value !== known.value;
  return said.value !== null && textOf(said.value) > textOf(known.value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function millisecondOf(stamp: Stamp): Micros {
  return Number.isFinite(stamp) ? Math.floor(stamp / 1000) * 1000 : 0;
}

/** Assigned, `__proto__` would be no member. */
function put(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}
