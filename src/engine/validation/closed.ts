import type { TSchema } from '@sinclair/typebox';

/** The schema with no room for names that it does not describe, at any depth. Objects whose keys are free stay so. */
export function closed<S extends TSchema>(schema: S): S {
  const copy = known.get(schema) ?? (closedPart(schema) as S);
  known.set(schema, copy);
  return copy as S;
}

/** Of each schema one copy, whoever asks: so it is compiled once. */
const known = new WeakMap<TSchema, TSchema>();

function closedPart(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closedPart);
  if (typeof part !== 'object' || part === null) return part;
  // Of symbols, too: the schema stays one of TypeBox.
  const copy: Record<string | symbol, unknown> = { ...part };
  for (const key of Object.keys(part)) copy[key] = closedPart(copy[key]);
  if (isObject(copy) && copy['additionalProperties'] === undefined) copy['additionalProperties'] = false;
  return copy;
}

function isObject(part: Readonly<Record<string, unknown>>): boolean {
  return part['type'] === 'object' && part['properties'] !== undefined && part['patternProperties'] === undefined;
}
