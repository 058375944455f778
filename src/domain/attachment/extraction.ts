import type { Issue } from '../errors.js';
import type { Span } from '../span/span.js';
import { imageOfBase64, MAX_IMAGE_BYTES, MAX_IMAGES_PER_SPAN, type Image, type ImageFlaw } from './image.js';
import { attachmentsIn, findItems, mayHoldItems, outputItemsIn, type FoundItem, type Place } from './items.js';
import { editedItem, editItems, type ItemEdit } from './json-edit.js';

/** An item of a span that names an image, with the image when its data came along. */
export interface Found extends FoundItem {
  readonly place: Place;
  readonly image: Image | null;
}

/** What a span holds of images. Pointers of the issues start at the span. */
export interface Inspection {
  readonly found: readonly Found[];
  readonly issues: readonly Issue[];
}

/** What is known of an image that is kept. */
export interface KeptImage {
  readonly sha256: string;
  readonly media_type: string;
  readonly bytes: number;
}

/** A cheap first look: false for nearly every span. */
export function mayHoldImages(span: Span): boolean {
  return span.attributes['attachments'] != null || (span.output_data !== null && mayHoldItems(span.output_data));
}

/**
 * Finds the images of a span: elements of `attributes.attachments`, which must be images where they hold data, and
 * elements of an output that is a JSON array, where anything else is left in peace.
 */
export async function inspect(span: Span): Promise<Inspection> {
  const issues: Issue[] = [];
  const found: Found[] = [];
  for (const place of ['attributes', 'output_data'] as const) {
    for (const item of findItems(place, elementsIn(span, place))) {
      const read = item.source.by === 'data' ? await imageOfBase64(item.source.text) : null;
      if (typeof read !== 'string') found.push({ ...item, place, image: read });
      else if (place === 'attributes' || read === 'too_large') issues.push(flawOf(item, place, read));
    }
  }
  const sixth = found[MAX_IMAGES_PER_SPAN];
  if (sixth !== undefined) {
    issues.push({
      pointer: pointerTo(sixth.place, sixth.index),
      detail: `is one image too many: a span has at most ${MAX_IMAGES_PER_SPAN}`,
    });
  }
  if (issues.length === 0) issues.push(...depthIssues(span, found));
  return { found, issues };
}

/** The span with what is kept removed from it; a reference by hash stands in its place. */
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

function elementsIn(span: Span, place: Place): unknown[] | null {
  return place === 'attributes' ? attachmentsIn(span.attributes) : outputItemsIn(span.output_data);
}

function flawOf({ index, source }: FoundItem, place: Place, flaw: ImageFlaw): Issue {
  const property = source.by === 'data' ? source.property : '';
  const limit = MAX_IMAGE_BYTES / (1024 * 1024);
  const detail =
    flaw === 'too_large' ? `must be at most ${limit} MB` : 'must be a JPEG, PNG, WebP or GIF image in base64';
  return { pointer: `${pointerTo(place, index)}/${property}`, detail };
}

function pointerTo(place: Place, index: number): string {
  return place === 'attributes' ? `/attributes/attachments/${index}` : `/output_data/${index}`;
}

/** A text that becomes part of the attributes, or is written anew, must not be nested deeper than can be written. */
function depthIssues(span: Span, found: readonly Found[]): Issue[] {
  const withData = new Map(found.flatMap((item) => (item.image === null ? [] : [[item, keptImage(item.image)]])));
  try {
    JSON.stringify(rewrittenAttachments(span, withData));
    rewrittenOutput(span, withData);
    return [];
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ pointer: '/output_data', detail: 'is nested too deeply to take an image out of it' }];
  }
}

export function keptImage({ sha256, type, bytes }: Image): KeptImage {
  return { sha256, media_type: type, bytes: bytes.length };
}

function rewrittenAttachments(span: Span, kept: ReadonlyMap<Found, KeptImage>): unknown[] | null {
  const edits = editsOf('attributes', kept);
  const elements = edits.length === 0 ? null : attachmentsIn(span.attributes);
  if (elements === null) return null;
  for (const edit of edits) elements[edit.index] = editedItem(elements[edit.index] as FoundItem['item'], edit);
  return elements;
}

/** @throws RangeError when it cannot be written. */
function rewrittenOutput(span: Span, kept: ReadonlyMap<Found, KeptImage>): string | null {
  const edits = editsOf('output_data', kept);
  const elements = edits.length === 0 ? null : outputItemsIn(span.output_data);
  if (elements === null || span.output_data === null) return span.output_data;
  const output = editItems(span.output_data, elements, edits);
  if (output === null) throw new RangeError('The output is nested too deeply');
  return output;
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
