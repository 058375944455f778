import { OWN_CALL_TAGS } from '../engine/schema/own-calls.js';
import type { Tags } from '../engine/schema/tags.js';
import type { Evidence, FoundMetadata } from './genai/evidence.js';
import { LIMITED_TAG_FIELDS, TAG_FIELDS } from './genai/context-fields.js';
import { objectIn } from './genai/readings.js';
import type { AttributeValue } from './model.js';

export interface MappedTags {
  readonly ofSpan: Tags;
  /** Those of its trace and its session as well: lists of these are filtered by them. */
  readonly ofTrace: Tags;
}

/** Metadata is whatever an application put there: more, or longer, is no tag, and stays among the attributes. */
const MAX_METADATA_TAGS = 64;
const MAX_METADATA_TEXT = 256;

/**
 * The tags of a span: who and where it is of, the names it is tagged with, and its metadata. Names and metadata take only
 * what the limit leaves, so that a span is never refused for them.
 * @param inherited tags of the span's resource, which the span's own replace
 * @param maxBytes of the keys and values of all tags together
 */
export function tagsOf(evidence: Evidence, inherited: Tags, maxBytes: number): MappedTags {
  const stated = textsOf(evidence, TAG_FIELDS);
  const limited: [string, AttributeValue][] = [
    ...textsOf(evidence, LIMITED_TAG_FIELDS),
    ...evidence.names('tags').map((name): [string, string] => [name, 'true']),
  ];
  if (stated.length + limited.length + evidence.metadata.length === 0) return { ofSpan: inherited, ofTrace: inherited };
  const tags = new LimitedTags(new Map([...Object.entries(inherited), ...stated]), maxBytes);
  tags.add(limited);
  tags.add(entriesOf(evidence.metadata.filter(({ ofSpan }) => !ofSpan)));
  const ofTrace = tags.toTags();
  const ofSpanAlone = evidence.metadata.filter(({ ofSpan }) => ofSpan);
  if (ofSpanAlone.length === 0) return { ofSpan: ofTrace, ofTrace };
  tags.add(entriesOf(ofSpanAlone));
  return { ofSpan: tags.toTags(), ofTrace };
}

/** The tags of a resource, without metadata: all of its spans carry them. */
export function resourceTags(evidence: Evidence, maxBytes: number): Tags {
  const tags = new LimitedTags(new Map(textsOf(evidence, TAG_FIELDS)), maxBytes);
  tags.add(textsOf(evidence, LIMITED_TAG_FIELDS));
  return tags.toTags();
}

type TextField = (typeof TAG_FIELDS | typeof LIMITED_TAG_FIELDS)[number];

function textsOf(evidence: Evidence, fields: readonly TextField[]): [string, string][] {
  return fields.flatMap((field): [string, string][] => {
    const text = evidence.text(field);
    return text === null ? [] : [[field, text]];
  });
}

function* entriesOf(found: readonly FoundMetadata[]): Iterable<[string, AttributeValue]> {
  for (const { name, value } of found)
    for (const entry of name === null ? Object.entries(objectIn(value) ?? {}) : ([[name, value]] as const))
      // No one who attaches metadata means to say that the server made the call.
      if (!OWN_CALLS.has(entry[0])) yield [...entry];
}

const OWN_CALLS: ReadonlySet<string> = new Set(OWN_CALL_TAGS);

class LimitedTags {
  readonly #tags: Map<string, string>;
  #bytes: number;
  #count = MAX_METADATA_TAGS;

  constructor(tags: Map<string, string>, maxBytes: number) {
    this.#tags = tags;
    this.#bytes = maxBytes;
    for (const [key, text] of tags) this.#bytes -= sizeOf(key, text);
  }

  /** Adds what is short, is text, and has no tag of its name yet, as far as there is room. */
  add(entries: Iterable<[string, AttributeValue]>): void {
    for (const [key, value] of entries) {
      if (this.#count === 0) return;
      const text = typeof value === 'object' ? '' : String(value);
      const isShort = key !== '' && text !== '' && Math.max(key.length, text.length) <= MAX_METADATA_TEXT;
      if (!isShort || this.#tags.has(key) || sizeOf(key, text) > this.#bytes) continue;
      this.#tags.set(key, text);
      this.#bytes -= sizeOf(key, text);
      this.#count -= 1;
    }
  }

  toTags(): Tags {
    return Object.fromEntries(this.#tags);
  }
}

function sizeOf(key: string, text: string): number {
  return Buffer.byteLength(key) + Buffer.byteLength(text);
}
