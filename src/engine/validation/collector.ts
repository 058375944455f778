import type { TSchema } from '@sinclair/typebox';
import type { Issue } from '../errors.js';
import { describe } from './details.js';
import { nearName } from './near-name.js';
import { compileCheck, plain, type JsonSchema } from './json-schema.js';

export type Collector = (value: unknown, pointer: string, limit: number) => Issue[];

/** Adds the issues of one value; returns early once `found` holds `limit`. */
type Part = (value: unknown, pointer: string, found: Issue[], limit: number) => void;

const MAX_SEGMENT_LENGTH = 100;

/**
 * A validator that reports every broken rule up to a limit. It walks lists and objects itself and lets ajv check
 * their items, so that it can stop at any item: a body of a million bad items costs a hundred errors, not a million.
 */
export function createCollector(schema: TSchema | JsonSchema): Collector {
  const part = compilePart(plain(schema));
  return (value, pointer, limit) => {
    const found: Issue[] = [];
    part(value, pointer, found, limit);
    return found;
  };
}

function compilePart(schema: JsonSchema): Part {
  const branch = nullableBranch(schema);
  if (branch !== null) return nullablePart(schema, branch);
  const object = onlyObject(schema);
  if (object !== null) return objectOrOther(schema, object);
  if (schema['type'] === 'array' && isSchema(schema['items'])) return listPart(schema, schema['items']);
  if (schema['type'] === 'object' && hasChildren(schema)) return objectPart(schema);
  return leafPart(schema);
}

/** Checker of a value that ajv checks as a whole: a scalar, or alternatives of any kind. One issue at most. */
function leafPart(schema: JsonSchema): Part {
  const check = compileCheck(schema);
  return (value, pointer, found) => {
    if (check(value)) return;
    const errors = check.errors ?? [];
    const path = errors.find(({ keyword }) => keyword !== 'type')?.instancePath ?? errors[0]?.instancePath ?? '';
    found.push({ pointer: pointer + shortened(path), detail: describe(errors) });
  };
}

function nullablePart(schema: JsonSchema, branch: JsonSchema): Part {
  if (branch['type'] !== 'array' && branch['type'] !== 'object') return leafPart(schema);
  const inner = compilePart(branch);
  const check = compileCheck({ anyOf: [{ type: branch['type'] }, { type: 'null' }] });
  return (value, pointer, found, limit) => {
    if (value === null) return;
    if (check(value)) inner(value, pointer, found, limit);
    else found.push({ pointer, detail: describe(check.errors ?? []) });
  };
}

/** An object among alternatives of other types can only be meant for the one that is an object. */
function objectOrOther(schema: JsonSchema, object: JsonSchema): Part {
  const isObject = compileCheck({ type: 'object' });
  const inner = compilePart(object);
  const other = leafPart(schema);
  return (value, pointer, found, limit) => (isObject(value) ? inner : other)(value, pointer, found, limit);
}

function listPart(schema: JsonSchema, items: JsonSchema): Part {
  const list = leafPart(without(schema, ['items']));
  const item = compilePart(items);
  return (value, pointer, found, limit) => {
    list(value, pointer, found, limit);
    if (!Array.isArray(value)) return;
    for (let index = 0; index < value.length && found.length < limit; index += 1) {
      item(value[index], `${pointer}/${index}`, found, limit);
    }
  };
}

function objectPart(schema: JsonSchema): Part {
  const whole = leafPart(without(schema, ['properties', 'required', 'additionalProperties', 'patternProperties']));
  const required = (schema['required'] as string[] | undefined) ?? [];
  const properties = compileParts(schema['properties']);
  const patterns = [...compileParts(schema['patternProperties'])].map(
    ([source, part]) => [new RegExp(source, 'u'), part] as const,
  );
  const additional = schema['additionalProperties'];
  const additionalPart = isSchema(additional) ? compilePart(additional) : null;
  const rest = patterns.length > 0 || additionalPart !== null || additional === false;

  return (value, pointer, found, limit) => {
    whole(value, pointer, found, limit);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    const object = value as Record<string, unknown>;
    for (const name of required) {
      if (found.length >= limit) return;
      if (!Object.hasOwn(object, name)) found.push({ pointer: child(pointer, name), detail: 'is required' });
    }
    for (const [name, part] of properties) {
      if (found.length >= limit) return;
      if (Object.hasOwn(object, name)) part(object[name], child(pointer, name), found, limit);
    }
    if (!rest) return;
    for (const name in object) {
      if (found.length >= limit) return;
      if (properties.has(name)) continue;
      const matching = patterns.filter(([pattern]) => pattern.test(name));
      for (const [, part] of matching) part(object[name], child(pointer, name), found, limit);
      if (matching.length > 0) continue;
      if (additional === false)
        found.push({ pointer: child(pointer, name), detail: notKnown(name, properties.keys()) });
      else additionalPart?.(object[name], child(pointer, name), found, limit);
    }
  };
}

function compileParts(schemas: unknown): Map<string, Part> {
  const entries = Object.entries((schemas ?? {}) as Record<string, JsonSchema>);
  return new Map(entries.map(([name, schema]) => [name, compilePart(schema)]));
}

/** The branch X of `anyOf: [X, null]`; null for any other schema. */
function nullableBranch(schema: JsonSchema): JsonSchema | null {
  const branches = schema['anyOf'];
  if (!Array.isArray(branches) || branches.length !== 2) return null;
  const others = (branches as JsonSchema[]).filter((branch) => branch['type'] !== 'null');
  return others.length === 1 ? (others[0] ?? null) : null;
}

/** The only branch of `anyOf` that takes objects; null where there is none, or another may. */
function onlyObject(schema: JsonSchema): JsonSchema | null {
  const branches = schema['anyOf'] as readonly JsonSchema[] | undefined;
  if (branches === undefined || !branches.every(({ type }) => typeof type === 'string')) return null;
  const objects = branches.filter(({ type }) => type === 'object');
  return objects.length === 1 ? (objects[0] ?? null) : null;
}

function hasChildren(schema: JsonSchema): boolean {
  return ['properties', 'required', 'additionalProperties', 'patternProperties'].some(
    (key) => schema[key] !== undefined,
  );
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}

function without(schema: JsonSchema, keys: readonly string[]): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));
}

function child(pointer: string, name: string): string {
  return `${pointer}/${shortened(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}

/** @param known names that stand in its place */
function notKnown(name: string, known: Iterable<string>): string {
  const near = nearName(name, known);
  return near === null ? 'is unknown' : `is unknown; did you mean ${near}?`;
}

/** A part of a pointer, cut to a readable length, as clients choose such names. */
export function shortened(text: string): string {
  return text.length > MAX_SEGMENT_LENGTH ? `${text.slice(0, MAX_SEGMENT_LENGTH)}…` : text;
}
