import { isJsonObject } from '../engine/json-object.js';

/** A JSON object, or nothing where a value is something else. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return isJsonObject(value) ? value : undefined;
}
