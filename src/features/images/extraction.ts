import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Issue } from '../../engine/errors.js';
import { JsonBoundError, JsonNames } from '../../engine/json-text.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import { imageOfBase64, MAX_IMAGE_BYTES, MAX_IMAGES_PER_SPAN, type Image, type ImageFlaw } from './image.js';
import type { Media } from './media.js';
import { elementsIn, findItems, mayHoldItems, PLACES, storedItems, type FoundItem, type Place } from './items.js';
import { mayHoldMedia } from './media-in-span.js';
import { editedItem, editItems, type ItemEdit } from './json-edit.js';

/** An item of a span that has an image, with the image when its data came along. */
export interface Found extends FoundItem {
  readonly place: Place;
  readonly image: Image | null;
}

/** Images found in a span. Pointers of the issues start at the span. */
export interface Inspection {
  readonly found: readonly Found[];
  readonly issues: readonly Issue[];
}

/** A kept image, or other file: its hash, type and size. */
export interface KeptImage {
  readonly sha256: string;
  readonly media_type: string;
  readonly bytes: number;
}

/** Items of a span that are looked at before others are served: a few milliseconds of work. */
const LOOKED_AT_ONCE = 50;

/** Whether a span may hold images, or refer to media, told cheaply: false for nearly every span. */
export function mayHoldImages(span: Span): boolean {
  return (
    span.attributes['attachments'] != null ||
    (span.output_data !== null && mayHoldItems(span.output_data)) ||
    mayHoldMedia(span)
  );
}

/**
 * Finds the images of a span: elements of `attributes.attachments`, which must be images where they hold data, and
 * elements of an output that is a JSON array, where anything else is left as it is.
 */
export async function inspect(span: Span): Promise<Inspection> {
  const issues: Issue[] = [];
  const found: Found[] = [];
  const names = new JsonNames();
  let looked = 0;
  for (const place of PLACES) {
    for (const item of itemsOf({ span, place, names, issues })) {
      const read = item.source.by === 'data' ? await imageOfBase64(item.source.text) : null;
      // Awaiting a ready value lets no other request run; `nextTurn` does.
      if ((looked += 1) % LOOKED_AT_ONCE === 0) await nextTurn();
      if (typeof read !== 'string') found.push({ ...item, place, image: read });
      else if (place === 'attributes' || read === 'too_large') issues.push(flawOf(item, place, read));
    }
  }
  const sixth = found[MAX_IMAGES_PER_SPAN];
  if (sixth !== undefined) issues.push(oneTooMany(sixth, `a span has at most ${MAX_IMAGES_PER_SPAN}`));
  return { found, issues };
}

/** The issue with a span that was stored already, elsewhere, and shows more images than one may. */
export function surplusImage(span: Span): Issue | undefined {
  if (!mayHoldImages(span)) return undefined;
  const shown = PLACES.flatMap((place) => storedItems(place, span).map((item) => ({ ...item, place })));
  const sixth = shown.filter(({ source }) => source.by !== 'data')[MAX_IMAGES_PER_SPAN];
  return sixth && oneTooMany(sixth, `a span has at most ${MAX_IMAGES_PER_SPAN}`);
}

export function oneTooMany({ place, index }: Pick<Found, 'place' | 'index'>, rule: string): Issue {
  return { pointer: pointerTo(place, index), detail: `exceeds the image limit: ${rule}` };
}

/** An inspected span with its kept images replaced by references by hash. */
export function withReferences(span: Span, kept: ReadonlyMap<Found, KeptImage>): Span {
  if (kept.size === 0) return span;
  const attachments = rewrittenAttachments(span, kept);
  const output = rewrittenOutput(span, kept);
  return {
    ...span,
    attributes: {
      ...(output === span.output_data ? span.attributes : withoutCopies(span, output)),
      ...(attachments === null ? {} : { attachments }),
    },
    output_data: output,
  };
}

interface Looked {
  readonly span: Span;
  readonly place: Place;
  /** Of all texts of the span. */
  readonly names: JsonNames;
  /** Where what is wrong is noted. */
  readonly issues: Issue[];
}

function itemsOf({ span, place, names, issues }: Looked): FoundItem[] {
  try {
    return findItems(place, span, names);
  } catch (error) {
    if (!(error instanceof JsonBoundError)) throw error;
    issues.push({ pointer: PLACE_POINTERS[place], detail: error.message });
    return [];
  }
}

function flawOf({ index, source }: FoundItem, place: Place, flaw: ImageFlaw): Issue {
  const property = source.by === 'data' ? source.property : '';
  const limit = MAX_IMAGE_BYTES / (1024 * 1024);
  const detail =
    flaw === 'too_large' ? `must be at most ${limit} MB` : 'must be a JPEG, PNG, WebP or GIF image in base64';
  return { pointer: `${pointerTo(place, index)}/${property}`, detail };
}

const PLACE_POINTERS: Readonly<Record<Place, string>> = {
  attributes: '/attributes/attachments',
  output_data: '/output_data',
};

function pointerTo(place: Place, index: number): string {
  return `${PLACE_POINTERS[place]}/${index}`;
}

export function keptImage({ sha256, type, bytes }: Media): KeptImage {
  return { sha256, media_type: type, bytes: bytes.length };
}

function rewrittenAttachments(span: Span, kept: ReadonlyMap<Found, KeptImage>): unknown[] | null {
  const edits = editsOf('attributes', kept);
  const elements = edits.length === 0 ? null : elementsIn('attributes', span);
  if (elements === null) return null;
  for (const edit of edits) elements[edit.index] = editedItem(elements[edit.index] as FoundItem['item'], edit);
  return elements;
}

function rewrittenOutput(span: Span, kept: ReadonlyMap<Found, KeptImage>): string | null {
  const edits = editsOf('output_data', kept);
  const elements = edits.length === 0 ? null : elementsIn('output_data', span);
  if (elements === null || span.output_data === null) return span.output_data;
  return editItems(span.output_data, elements, edits);
}

function editsOf(place: Place, kept: ReadonlyMap<Found, KeptImage>): ItemEdit[] {
  return [...kept]
    .filter(
      ([{ place: at, source }, { sha256 }]) => at === place && !(source.by === 'hash' && source.sha256 === sha256),
    )
    .sort(([a], [b]) => a.index - b.index)
    .map(([{ index, source }, image]) => {
      const reference = { ...image };
      if (source.by === 'data') return { index, property: source.property, value: source.text, replacement: reference };
      const url = source.url ?? '';
      return { index, property: 'url', value: url, replacement: { url, ...reference } };
    });
}

/** An output that another transport made from an attribute still stands in that attribute. */
function withoutCopies({ attributes, output_data }: Span, output: string | null): Span['attributes'] {
  const copies = Object.keys(attributes).filter((name) => attributes[name] === output_data);
  if (copies.length === 0) return attributes;
  return { ...attributes, ...Object.fromEntries(copies.map((name) => [name, output])) };
}
