import { setImmediate as nextTurn } from 'node:timers/promises';
import { normalizeText } from '../engine/schema/normalize.js';
import type { Micros } from '../engine/timestamp.js';
import {
  AssembledSpan,
  type PartialSpan,
  type SaidFields,
  type SpanKey,
} from '../engine/traces/model/partial/partial-span.js';
import type { Span } from '../engine/traces/model/span/span.js';
import { STAMPS, type Stamp } from '../engine/traces/model/partial/stamps.js';
import type { MappingLimits } from '../otlp/span.js';
import { saidBy, type Told } from './told.js';

/** What a client says of a span, before its attributes are read. */
export interface Draft {
  /** Tells what is sent again from what is sent besides. */
  readonly id: string;
  readonly key: SpanKey;
  readonly at: Micros;
  readonly isUpdate: boolean;
  readonly told: Told;
  /** Fields that come from no attribute. */
  readonly said: SaidFields;
  readonly seenAt?: Micros;
}

/** A draft that was read: a part of a span, or why it is none. */
export type ReadDraft = { readonly id: string } & ({ readonly part: PartialSpan } | { readonly why: string });

/** Drafts whose attributes are read together, and the longest time before other requests get a turn. */
const READ_AT_ONCE = 10;
const MAX_TURN_MS = 10;

/**
 * Reads what a client sent, in its order.
 * @param read makes drafts, and passes on what else there is
 */
export async function readDrafts<Sent, Other extends object>(
  sent: readonly Sent[],
  read: (each: Sent) => Draft | Other,
  limits: MappingLimits,
): Promise<(ReadDraft | Other)[]> {
  const found: (ReadDraft | Other)[] = [];
  const stamps = new EventStamps();
  let began = performance.now();
  for (let from = 0; from < sent.length; from += READ_AT_ONCE) {
    if (performance.now() - began > MAX_TURN_MS) {
      await nextTurn();
      began = performance.now();
    }
    const drafts = sent.slice(from, from + READ_AT_ONCE).map(read);
    const said = saidBy(
      drafts.flatMap((draft) => (isDraft(draft) ? [draft.told] : [])),
      limits,
    ).values();
    for (const draft of drafts) {
      if (!isDraft(draft)) {
        found.push(draft);
        continue;
      }
      const fields = said.next().value ?? {};
      if (typeof fields === 'string') found.push({ id: draft.id, why: fields });
      else found.push({ id: draft.id, part: partOf(draft, fields, stamps) });
    }
  }
  return found;
}

/** The span that a draft alone says, or why it says none. */
export function wholeSpan(draft: Draft, limits?: MappingLimits): Span | string {
  const [fields = {}] = saidBy([draft.told], limits);
  if (typeof fields === 'string') return fields;
  const assembled = AssembledSpan.empty(draft.key);
  const refused = assembled.add(partOf(draft, fields, new EventStamps()));
  if (refused !== null) return refused;
  const { attributes, ...span } = assembled.toSpan();
  const { [STAMPS]: _stamps, ...own } = attributes;
  return { ...span, attributes: own };
}

function isDraft(read: object): read is Draft {
  return 'told' in read;
}

function partOf(draft: Draft, mapped: SaidFields, stamps: EventStamps): PartialSpan {
  const { key, said, seenAt } = draft;
  const stamp = stamps.of(draft);
  return { ...key, stamp, said: { ...mapped, ...said }, ...(seenAt !== undefined && { seenAt }) };
}

/** Events of one span in one millisecond count in the order of their request, updates behind what they update. */
class EventStamps {
  readonly #seen = new Map<string, Map<string, number>>();

  of({ key: { trace_id, id: span }, id, at, isUpdate }: Draft): Stamp {
    const first = Math.floor(at / 1000) * 1000 + (isUpdate ? 500 : 0);
    const name = `${trace_id}/${span}/${first}`;
    const events = this.#seen.get(name) ?? new Map<string, number>();
    this.#seen.set(name, events);
    // An event that the request repeats stays the same.
    const position = events.get(id) ?? events.size;
    events.set(id, position);
    return first + Math.min(position, 499);
  }
}

/** A name, where one is said. */
export function named(name: string | null | undefined): SaidFields {
  return name == null || name === '' ? {} : { name: normalizeText(name) };
}
