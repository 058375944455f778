import { JsonBoundError, MAX_JSON_DEPTH, parseJsonText, type JsonNames } from '../../engine/json-text.js';
import type { Span } from '../../engine/traces/model/span/span.js';
import type { AttachmentParts } from '../../engine/traces/model/attachments.js';

/** Part of a span that holds attachments. */
export type Place = keyof AttachmentParts;
export const PLACES: readonly Place[] = ['attributes', 'output_data'];

/** Where an attachment item has its image: in the item itself, among the kept images, or at a URL. */
export type Source =
  | { readonly by: 'data'; readonly property: 'base64' | 'url'; readonly text: string }
  /** An image that is kept already: spans that were read are sent again with changes. */
  | { readonly by: 'hash'; readonly sha256: string; readonly url: string | null }
  | { readonly by: 'url'; readonly url: string };

export type Item = Readonly<Record<string, unknown>>;

export interface FoundItem {
  readonly index: number;
  readonly item: Item;
  readonly source: Source;
}

const SHA256 = /^[0-9a-f]{64}$/;

/** Attachments become part of their span, which must not be nested too deeply to be sent again: an array, it, its attributes. */
const ATTACHMENTS_DEPTH = MAX_JSON_DEPTH - 3;

/**
 * The array of attachments in `attributes.attachments`: itself, or its JSON text, which is all that clients can send
 * whose attributes hold no objects (OpenTelemetry SDKs); its elements likewise. Null when it is something else.
 * @throws JsonBoundError
 */
function attachmentsIn(attributes: Span['attributes'], names?: JsonNames): unknown[] | null {
  const value = attributes['attachments'];
  const list = typeof value === 'string' ? parsedArray(value, ATTACHMENTS_DEPTH, names) : value;
  if (!Array.isArray(list)) return null;
  return list.map((element: unknown) =>
    typeof element === 'string' && element.startsWith('{')
      ? (parsed(element, ATTACHMENTS_DEPTH - 1, names) ?? element)
      : element,
  );
}

/**
 * The array that an output is the JSON text of, when it may hold images; null for every other output.
 * @throws JsonBoundError
 */
function outputItemsIn(output: string | null, names?: JsonNames): unknown[] | null {
  return output !== null && mayHoldItems(output) ? parsedArray(output, MAX_JSON_DEPTH, names) : null;
}

/** Whether an output may hold items with images, told without parsing it. */
export function mayHoldItems(output: string): boolean {
  return /^\s*\[/.test(output) && ['"base64"', '"sha256"', '"url"'].some((name) => output.includes(name));
}

/** The elements of one place, when it is an array. @throws JsonBoundError */
export function elementsIn(
  place: Place,
  { attributes, output_data }: AttachmentParts,
  names?: JsonNames,
): unknown[] | null {
  return place === 'attributes' ? attachmentsIn(attributes, names) : outputItemsIn(output_data, names);
}

/** The items of one place that name an image. @param names of all texts that bound each other @throws JsonBoundError */
export function findItems(place: Place, span: AttachmentParts, names?: JsonNames): FoundItem[] {
  return (elementsIn(place, span, names) ?? []).flatMap((element, index) => {
    if (typeof element !== 'object' || element === null || Array.isArray(element)) return [];
    const item = element as Item;
    const source = sourceOf(item, place);
    return source === null ? [] : [{ index, item, source }];
  });
}

/** The items of a stored span; none in JSON nested too deeply, which only spans of earlier versions can hold. */
export function storedItems(place: Place, span: AttachmentParts): FoundItem[] {
  try {
    return findItems(place, span);
  } catch (error) {
    if (error instanceof JsonBoundError) return [];
    throw error;
  }
}

function sourceOf(item: Item, place: Place): Source | null {
  const { base64, url, sha256 } = item;
  if (typeof base64 === 'string') return { by: 'data', property: 'base64', text: base64 };
  const link = typeof url === 'string' ? url : '';
  if (/^data:/i.test(link)) return { by: 'data', property: 'url', text: link };
  // Outputs of all kinds are lists with links in them; only items that call themselves images are taken for them.
  const linked = /^https?:\/\//i.test(link) && URL.canParse(link) && (place === 'attributes' || saysImage(item));
  if (typeof sha256 === 'string' && SHA256.test(sha256)) return { by: 'hash', sha256, url: linked ? link : null };
  return linked ? { by: 'url', url: link } : null;
}

function saysImage({ type, media_type, mime_type }: Item): boolean {
  const said = [type, media_type, mime_type].filter((value) => typeof value === 'string');
  return said.some((value) => /^(image|screenshot)$|^image\//i.test(value));
}

function parsedArray(text: string, maxDepth: number, names: JsonNames | undefined): unknown[] | null {
  const value = /^\s*\[/.test(text) ? parsed(text, maxDepth, names) : null;
  return Array.isArray(value) ? value : null;
}

function parsed(text: string, maxDepth: number, names: JsonNames | undefined): unknown {
  try {
    return parseJsonText(text, maxDepth, undefined, names);
  } catch (error) {
    if (error instanceof JsonBoundError) throw error;
    return null;
  }
}
