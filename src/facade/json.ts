import { isJsonObject } from '../engine/json-object.js';
import { JsonBoundError, parseJsonText } from '../engine/json-text.js';

/** Longer texts stay texts. */
const MAX_JSON = 100_000;

/** A JSON object, or nothing where a value is something else. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** What a stored text says: objects and arrays that were sent as JSON are answered as JSON. */
export function valueOf(text: string | null | undefined): unknown {
  if (text == null || text.length > MAX_JSON || !/^\s*[[{]/.test(text)) return text ?? null;
  try {
    return parseJsonText(text);
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof JsonBoundError) return text;
    throw error;
  }
}
