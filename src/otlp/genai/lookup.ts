import { METADATA } from './context-fields.js';
import { KIND_RULES } from './kind.js';
import { MAPPING, type FieldName } from './mapping.js';
import { parseIndexedName } from './messages.js';
import { memberOf, READINGS, sumOf, unquoted, type Read } from './readings.js';
import type { FieldRule, Source } from './source.js';

/** The fields of the mapping by number, and the kind after them. */
const FIELD_NAMES = Object.keys(MAPPING) as FieldName[];
export const FIELD = Object.fromEntries(FIELD_NAMES.map((name, i) => [name, i])) as Readonly<Record<FieldName, number>>;
export const KIND_FIELD = FIELD_NAMES.length;
export const FIELD_COUNT = KIND_FIELD + 1;

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

/** An attribute that is a member of an object. */
export interface MemberSlot {
  readonly field: number;
  readonly rank: number;
  readonly name: string;
}

/** An attribute that is metadata. */
export interface MetadataSlot {
  /** Null when the attribute is an object, whose members are the metadata. */
  readonly name: string | null;
  readonly ofSpan: boolean;
}

/** Meaning of an attribute's name: its slots, its place in a list of messages or in an object, and whether it is metadata. */
export interface Meaning {
  readonly slots: readonly Slot[];
  readonly indexed: IndexedSlot | null;
  readonly member: MemberSlot | null;
  readonly metadata: MetadataSlot | null;
}

/** Slots that an event of some name may fill. */
export interface EventSlots {
  readonly attributes: ReadonlyMap<string, readonly Slot[]>;
  readonly message: { readonly field: number; readonly rank: number; readonly role: string } | null;
}

interface Compiled {
  readonly attributes: Map<string, Slot[]>;
  readonly events: Map<string, { attributes: Map<string, Slot[]>; message: EventSlots['message'] }>;
  /** Prefixes with their dot. */
  readonly indexed: { readonly prefix: string; readonly field: number; readonly rank: number }[];
  readonly members: { readonly prefix: string; readonly field: number; readonly rank: number }[];
}

function compile(): Compiled {
  const compiled: Compiled = { attributes: new Map(), events: new Map(), indexed: [], members: [] };
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
  else if ('each' in source) compiled.members.push({ prefix: `${source.each}.`, field: slot.field, rank: slot.rank });
  else if ('json' in source)
    addSlot(compiled.attributes, source.json, { ...slot, read: (value) => slot.read(unquoted(value)) });
  else if ('member' in source)
    addSlot(compiled.attributes, source.within, { ...slot, read: memberOf(source.member, slot.read) });
  else if ('sum' in source)
    addSlot(compiled.attributes, source.within, { ...slot, read: sumOf(source.sum, slot.read) });
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
  const meaning = { slots, indexed: indexedSlot(name), member: memberSlot(name), metadata: metadataSlot(name) };
  const { indexed, member, metadata } = meaning;
  return slots.length === 0 && indexed === null && member === null && metadata === null ? null : meaning;
}

function indexedSlot(name: string): IndexedSlot | null {
  for (const { prefix, field, rank } of COMPILED.indexed) {
    if (!name.startsWith(prefix)) continue;
    const parsed = parseIndexedName(name.slice(prefix.length));
    if (parsed !== null) return { field, rank, ...parsed };
  }
  return null;
}

function memberSlot(name: string): MemberSlot | null {
  const found = COMPILED.members.find(({ prefix }) => name.startsWith(prefix) && name.length > prefix.length);
  return found === undefined ? null : { ...found, name: name.slice(found.prefix.length) };
}

/** What the mapping knows by its name is no metadata besides. */
function metadataSlot(name: string): MetadataSlot | null {
  for (const source of METADATA) {
    const ofSpan = source.ofSpan === true;
    if ('within' in source) {
      if (name === source.within) return { name: null, ofSpan };
      continue;
    }
    const start = source.each.length + 1;
    if (name.length > start && name.startsWith(`${source.each}.`))
      return COMPILED.attributes.has(name) ? null : { name: name.slice(start), ofSpan };
  }
  return null;
}
