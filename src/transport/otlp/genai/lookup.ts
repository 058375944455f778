import { SpanInput } from '../../../domain/span/schema.js';
import type { AttributeValue } from '../model.js';
import { KIND_RULES } from './kind.js';
import { MAPPING, type FieldName, type FieldRule, type Reading, type Source } from './mapping.js';
import { parseIndexedName } from './messages.js';

/** The fields of the mapping by number, and the kind after them. */
const FIELD_NAMES = Object.keys(MAPPING) as FieldName[];
export const FIELD = Object.fromEntries(FIELD_NAMES.map((name, i) => [name, i])) as Readonly<Record<FieldName, number>>;
export const KIND_FIELD = FIELD_NAMES.length;
export const FIELD_COUNT = KIND_FIELD + 1;

type Read = (value: AttributeValue) => AttributeValue | undefined;

/** Where the value of one attribute goes: which field, and how far down that field's list of preference. */
export interface Slot {
  readonly field: number;
  readonly rank: number;
  readonly read: Read;
}

/** An attribute that is a part of a message. */
export interface IndexedSlot {
  readonly field: number;
  readonly rank: number;
  readonly message: number;
  readonly path: readonly string[];
}

/** Meaning of an attribute's name: its slots, and its place in a list of messages if it has one. */
export interface Meaning {
  readonly slots: readonly Slot[];
  readonly indexed: IndexedSlot | null;
}

/** Slots that an event of some name may fill. */
export interface EventSlots {
  readonly attributes: ReadonlyMap<string, readonly Slot[]>;
  readonly message: { readonly field: number; readonly rank: number; readonly role: string } | null;
}

const READINGS: Readonly<Record<Reading, Read>> = { text, provider, count, amount, line, payload };

/** Names of APIs that the Vercel AI SDK appends to the name of a provider: `openai.chat`. */
const API_SUFFIX =
  /\.(chat|responses|completions?|messages|embeddings?|text-embedding|textEmbedding|reranking|image|speech|transcription)$/;

function text(value: AttributeValue): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' ? String(value) : undefined;
}

function provider(value: AttributeValue): string | undefined {
  return typeof value === 'string' && value !== '' ? value.replace(API_SUFFIX, '') : undefined;
}

function number(value: AttributeValue): number {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && value.length <= 64 && value.trim() !== '' ? Number(value) : NaN;
}

function count(value: AttributeValue): number | undefined {
  const tokens = number(value);
  return Number.isSafeInteger(tokens) && tokens >= 0 ? tokens : undefined;
}

/** More than this is no price, and the interface takes no more either. */
const MAX_DOLLARS = SpanInput.properties.cost.anyOf[0].maximum ?? Infinity;

function amount(value: AttributeValue): number | undefined {
  const dollars = number(value);
  return dollars >= 0 && dollars <= MAX_DOLLARS ? dollars : undefined;
}

function line(value: AttributeValue): number | undefined {
  const at = number(value);
  return Number.isSafeInteger(at) && at >= 0 ? at : undefined;
}

function payload(value: AttributeValue): AttributeValue | undefined {
  if (value === null || value === '') return undefined;
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

interface Compiled {
  readonly attributes: Map<string, Slot[]>;
  readonly events: Map<string, { attributes: Map<string, Slot[]>; message: EventSlots['message'] }>;
  /** Prefixes with their dot. */
  readonly indexed: { readonly prefix: string; readonly field: number; readonly rank: number }[];
}

function compile(): Compiled {
  const compiled: Compiled = { attributes: new Map(), events: new Map(), indexed: [] };
  FIELD_NAMES.forEach((name, field) => {
    const rule: FieldRule = MAPPING[name];
    rule.sources.forEach((source, rank) => addSource(compiled, source, { field, rank, read: READINGS[rule.reads] }));
  });
  KIND_RULES.forEach(({ attribute, kindOf }, rank) => {
    const read: Read = (value) => (typeof value === 'string' ? kindOf(value) : undefined);
    addSlot(compiled.attributes, attribute, { field: KIND_FIELD, rank, read });
  });
  return compiled;
}

function addSource(compiled: Compiled, source: Source, slot: Slot): void {
  if (typeof source === 'string') addSlot(compiled.attributes, source, slot);
  else if ('indexed' in source)
    compiled.indexed.push({ prefix: `${source.indexed}.`, field: slot.field, rank: slot.rank });
  else if ('event' in source) addSlot(eventSlots(compiled, source.event).attributes, source.attribute, slot);
  else {
    for (const [event, role] of Object.entries(source.messages)) {
      eventSlots(compiled, event).message = { field: slot.field, rank: slot.rank, role };
    }
  }
}

function addSlot(into: Map<string, Slot[]>, name: string, slot: Slot): void {
  const slots = into.get(name);
  if (slots === undefined) into.set(name, [slot]);
  else slots.push(slot);
}

function eventSlots(
  compiled: Compiled,
  event: string,
): { attributes: Map<string, Slot[]>; message: EventSlots['message'] } {
  let slots = compiled.events.get(event);
  if (slots === undefined) compiled.events.set(event, (slots = { attributes: new Map(), message: null }));
  return slots;
}

const COMPILED = compile();

const NO_SLOTS: readonly Slot[] = [];

/** Names remembered per request; a request with more different ones only loses speed. */
const REMEMBERED = 4096;

/** Finds what names mean; one per request, so that names seen before cost one look-up and nothing is kept between requests. */
export class Lookup {
  readonly #seen = new Map<string, Meaning | null>();

  /** @returns null when the name means nothing to the mapping */
  attribute(name: string): Meaning | null {
    const seen = this.#seen.get(name);
    if (seen !== undefined) return seen;
    const meaning = meaningOf(name);
    if (this.#seen.size < REMEMBERED) this.#seen.set(name, meaning);
    return meaning;
  }

  event(name: string): EventSlots | undefined {
    return COMPILED.events.get(name);
  }
}

function meaningOf(name: string): Meaning | null {
  const slots = COMPILED.attributes.get(name) ?? NO_SLOTS;
  const indexed = indexedSlot(name);
  return slots.length === 0 && indexed === null ? null : { slots, indexed };
}

function indexedSlot(name: string): IndexedSlot | null {
  for (const { prefix, field, rank } of COMPILED.indexed) {
    if (!name.startsWith(prefix)) continue;
    const parsed = parseIndexedName(name.slice(prefix.length));
    if (parsed !== null) return { field, rank, ...parsed };
  }
  return null;
}
