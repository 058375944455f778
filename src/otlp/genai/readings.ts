import { parseJsonText } from '../../engine/json-text.js';
import { UUID } from '../../engine/schema/ids.js';
import { SpanInput } from '../../engine/traces/model/span/schema.js';
import { MAX_DEPTH } from '../budget.js';
import type { Attributes, AttributeValue } from '../model.js';
import type { Reading } from './source.js';
import { isJsonObject } from '../../engine/json-object.js';

/** Reads a value; `undefined` when it cannot be read so. */
export type Read = (value: AttributeValue) => AttributeValue | undefined;

export const READINGS: Readonly<Record<Reading, Read>> = {
  text,
  provider,
  count,
  amount,
  line,
  payload,
  slug,
  uuid,
  version,
  names,
  object: (value) => (typeof value === 'string' ? objectIn(value) : undefined),
};

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

/** No slug of a prompt is longer, and what names a version need not be. */
const MAX_SLUG = 128;

function slug(value: AttributeValue): string | undefined {
  const name = text(value);
  return name !== undefined && name.length <= MAX_SLUG ? name : undefined;
}

function uuid(value: AttributeValue): string | undefined {
  const id = typeof value === 'string' ? value.toLowerCase() : '';
  return UUID.test(id) ? id : undefined;
}

function version(value: AttributeValue): string | number | undefined {
  const name = slug(value);
  return name !== undefined && /^\d{1,9}$/.test(name) ? Number(name) : name;
}

function names(value: AttributeValue): string[] | undefined {
  const list = typeof value === 'string' && value.startsWith('[') ? parsed(value) : value;
  const found = (Array.isArray(list) ? list : [value]).map(text).filter((each) => each !== undefined);
  return found.length === 0 ? undefined : found;
}

/** Longer texts are not read as JSON: what conventions say in JSON is short, and every span may bring one. */
export const MAX_JSON_TEXT = 64 * 1024;

/** The text read last, as several sources look into one attribute. */
let last: { readonly text: string; readonly value: AttributeValue | undefined } = { text: '', value: undefined };

function parsed(json: string): AttributeValue | undefined {
  if (json.length > MAX_JSON_TEXT) return undefined;
  if (last.text !== json) {
    let value: AttributeValue | undefined;
    try {
      value = parseJsonText(json, MAX_DEPTH) as AttributeValue;
    } catch {
      value = undefined;
    }
    last = { text: json, value };
  }
  return last.value;
}

/** An attribute that is an object, or the JSON text of one. */
export function objectIn(value: AttributeValue): Attributes | undefined {
  const object = typeof value === 'string' && value.startsWith('{') ? parsed(value) : value;
  return isJsonObject(object) ? object : undefined;
}

/** What JSON says: a text without its quotes, nothing for null; objects, lists and numbers stay JSON. What is no JSON stays, too. */
export function unquoted(value: AttributeValue): AttributeValue {
  if (value === 'null') return null;
  if (typeof value !== 'string' || !value.startsWith('"')) return value;
  try {
    return JSON.parse(value) as string;
  } catch {
    return value;
  }
}

/** Reads a member of an object; `a.b` is the member `b` of `a`. */
export function memberOf(path: string, read: Read): Read {
  const steps = path.split('.');
  return (value) => {
    let found: AttributeValue | undefined = value;
    for (const step of steps) {
      const object: Attributes | undefined = found === undefined ? undefined : objectIn(found);
      found = object !== undefined && Object.hasOwn(object, step) ? object[step] : undefined;
    }
    return found === undefined ? undefined : read(found);
  };
}

/** Reads the sum of the numbers in an object whose names match. */
export function sumOf(matching: RegExp, read: Read): Read {
  return (value) => {
    const numbers = Object.entries(objectIn(value) ?? {}).filter(
      (entry): entry is [string, number] => matching.test(entry[0]) && typeof entry[1] === 'number',
    );
    return numbers.length === 0 ? undefined : read(numbers.reduce((sum, [, each]) => sum + each, 0));
  };
}
