import { DomainError } from '../../engine/errors.js';
import { exceededBound, JsonNames, toJsonText } from '../../engine/json-text.js';
import { MAX_DEPTH } from '../budget.js';
import { newAttributes, type Attributes, type AttributeValue, type OtlpEvent, type OtlpSpan } from '../model.js';
import { DEFAULT_KIND, USAGE_KIND, USAGE_RANK } from './kind.js';
import {
  FIELD,
  FIELD_COUNT,
  KIND_FIELD,
  type EventSlots,
  type Lookup,
  type Meaning,
  type MetadataSlot,
  type Slot,
} from './lookup.js';
import { MAPPING, type FieldName } from './mapping.js';
import { assembleMessages, messageOfEvent, UNFOLDED, withSystemInstructions, type MessagePart } from './messages.js';
import { MAX_JSON_TEXT } from './readings.js';

const NOT_FOUND = 255;

/** System instructions stand beside the first sources of the input, those of the same convention. */
const INSTRUCTED_SOURCES = MAPPING.systemInstructions.sources.length;

/** Messages, or members of an object, of one source of one field, collected until it is known that no better source exists. */
interface Collected {
  readonly field: number;
  readonly rank: number;
  readonly parts: MessagePart[];
  readonly events: AttributeValue[];
  readonly members: Attributes;
  /** Characters of the members. */
  size: number;
}

/** Objects of more characters, which are stored once more, are left where they are. */
const MAX_OBJECT = 64 * 1024;

/** So many characters of JSON texts in one request are read whatever they hold: more cannot have too many different names. */
const UNCOUNTED_JSON = 1024 * 1024;

/** An attribute that is metadata, and what it holds. */
export interface FoundMetadata extends MetadataSlot {
  readonly value: AttributeValue;
}

type Names<R extends string> = { [N in FieldName]: (typeof MAPPING)[N]['reads'] extends R ? N : never }[FieldName];

/**
 * Facts about one span from all LLM conventions: gathered in one pass over its attributes and its events, where
 * the best source of each field wins. Reused from span to span; its answers are about the span read last.
 */
export class Evidence {
  readonly #lookup: Lookup;
  readonly #ranks = new Uint8Array(FIELD_COUNT).fill(NOT_FOUND);
  readonly #values: (AttributeValue | undefined)[] = new Array<AttributeValue | undefined>(FIELD_COUNT).fill(undefined);
  readonly #collected: Collected[] = [];
  readonly #metadata: FoundMetadata[] = [];
  /** Characters of the JSON texts of the request, and the names in those beyond {@link UNCOUNTED_JSON}. */
  #jsonLength = 0;
  readonly #names = new JsonNames();

  constructor(lookup: Lookup) {
    this.#lookup = lookup;
  }

  read(span: OtlpSpan): void {
    this.readAttributes(span.attributes);
    for (const event of span.events) this.#readEvent(event);
    for (const collected of this.#collected) this.#settle(collected);
  }

  /** Forgets what was read before and reads attributes alone, such as a resource's. */
  readAttributes(attributes: Attributes): void {
    this.#ranks.fill(NOT_FOUND);
    this.#values.fill(undefined);
    this.#collected.length = 0;
    this.#metadata.length = 0;
    const lookup = this.#lookup;
    for (const name in attributes) {
      const meaning = lookup.attribute(name);
      if (meaning === null) continue;
      const value = attributes[name] as AttributeValue;
      this.#fill(meaning.slots, value);
      this.#gather(meaning, value);
    }
  }

  /** Takes what is a part of something larger. */
  #gather({ indexed, member, metadata }: Meaning, value: AttributeValue): void {
    if (indexed !== null && this.#improves(indexed)) {
      this.#collect(indexed.field, indexed.rank).parts.push({ message: indexed.message, path: indexed.path, value });
    }
    if (member !== null && this.#improves(member) && typeof value !== 'object') {
      const collected = this.#collect(member.field, member.rank);
      collected.members[member.name] = value;
      collected.size += member.name.length + String(value).length;
    }
    if (metadata !== null) this.#metadata.push({ ...metadata, value });
  }

  #fill(slots: readonly Slot[], value: AttributeValue): void {
    if (slots.length > 0) this.#count(value, MAX_JSON_TEXT);
    for (const slot of slots) {
      if (!this.#improves(slot)) continue;
      const found = slot.read(value);
      if (found === undefined) continue;
      this.#ranks[slot.field] = slot.rank;
      this.#values[slot.field] = found;
    }
  }

  /**
   * Counts a value that may be read as JSON text: all of these together have no more names than a body may have.
   * @param longest a longer text is not read
   * @throws DomainError `too_large`
   */
  #count(value: AttributeValue | undefined, longest = Infinity): void {
    if (typeof value !== 'string' || value.length > longest || !/^[[{]/.test(value)) return;
    this.#jsonLength += value.length;
    if (this.#jsonLength <= UNCOUNTED_JSON || exceededBound(value, MAX_DEPTH, this.#names) !== 'names') return;
    throw new DomainError(
      'too_large',
      'the JSON texts in attributes have too many different names: send smaller batches',
    );
  }

  /** Whether a source comes before the best one found so far. */
  #improves({ field, rank }: { readonly field: number; readonly rank: number }): boolean {
    return rank < (this.#ranks[field] as number);
  }

  #readEvent(event: OtlpEvent): void {
    const slots: EventSlots | undefined = this.#lookup.event(event.name);
    if (slots === undefined) return;
    for (const [name, attributeSlots] of slots.attributes) {
      const value = event.attributes[name];
      if (value !== undefined) this.#fill(attributeSlots, value);
    }
    if (slots.message === null || !this.#improves(slots.message)) return;
    for (const name of UNFOLDED) this.#count(event.attributes[name]);
    const message = messageOfEvent(event, slots.message.role);
    if (message !== null) this.#collect(slots.message.field, slots.message.rank).events.push(message);
  }

  #collect(field: number, rank: number): Collected {
    let collected = this.#collected.find((one) => one.field === field && one.rank === rank);
    if (collected === undefined) {
      collected = { field, rank, parts: [], events: [], members: newAttributes(), size: 0 };
      this.#collected.push(collected);
    }
    return collected;
  }

  #settle(collected: Collected): void {
    if (!this.#improves(collected)) return;
    const { field, rank, parts, events, members, size } = collected;
    if (size > MAX_OBJECT) return;
    const whole = size > 0 ? members : parts.length > 0 ? assembleMessages(parts) : events;
    if (whole === null) return;
    this.#ranks[field] = rank;
    this.#values[field] = whole;
  }

  /** What says more of the span, its trace or its session, in the order it was sent. */
  get metadata(): readonly FoundMetadata[] {
    return this.#metadata;
  }

  names(name: Names<'names'>): readonly string[] {
    return (this.#values[FIELD[name]] as string[] | undefined) ?? [];
  }

  text(name: Names<'text' | 'provider'>): string | null {
    return (this.#values[FIELD[name]] as string | undefined) ?? null;
  }

  number(name: Names<'count' | 'amount' | 'line'>): number | null {
    return (this.#values[FIELD[name]] as number | undefined) ?? null;
  }

  /** A value for the interface: a name, a count of tokens, what names a prompt. */
  value(name: Names<'text' | 'provider' | 'count' | 'slug' | 'uuid' | 'version' | 'object'>): AttributeValue {
    return this.#values[FIELD[name]] ?? null;
  }

  /** Lower-case identifier; {@link DEFAULT_KIND} when nothing says more. */
  kind(): string {
    const kind = this.#values[KIND_FIELD] as string | undefined;
    if (kind !== undefined && (this.#ranks[KIND_FIELD] as number) < USAGE_RANK) return kind;
    const used = this.number('inputTokens') !== null || this.number('outputTokens') !== null;
    return used && this.text('model') !== null ? USAGE_KIND : (kind ?? DEFAULT_KIND);
  }

  /** Input of the span: text as it came, anything else as JSON. */
  input(kind: string): string | null {
    const ofTool = this.#payload('toolInput');
    return kind === 'tool' && ofTool !== null ? ofTool : (this.#instructedInput() ?? ofTool);
  }

  /** Output of the span: text as it came, anything else as JSON. */
  output(kind: string): string | null {
    const ofTool = this.#payload('toolOutput');
    return kind === 'tool' && ofTool !== null ? ofTool : (this.#payload('output') ?? ofTool);
  }

  #instructedInput(): string | null {
    const input = this.#payload('input');
    if (input === null || (this.#ranks[FIELD.input] as number) >= INSTRUCTED_SOURCES) return input;
    const instructions = this.#payload('systemInstructions');
    return instructions === null ? input : withSystemInstructions(instructions, input);
  }

  #payload(name: Names<'payload'>): string | null {
    const value = this.#values[FIELD[name]];
    if (value === undefined) return null;
    return typeof value === 'string' ? value : toJsonText(value);
  }
}
