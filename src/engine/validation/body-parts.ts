import { uuidOf } from '../schema/ids.js';
import type { JsonSchema } from './json-schema.js';
import type { UnknownNames } from './unknown-names.js';
import { isJsonObject } from '../json-object.js';

/* What is done with the parts of a body that its schema describes, whether they fit the schema or not. */

type Rewrite = (value: unknown) => unknown;
type NameUnknown = (value: unknown, path: string, into: UnknownNames) => void;

/** Makes a function that writes every id of a body as the UUID that it means, objects in place. */
export function idWriter(schema: JsonSchema): Rewrite {
  return idsIn(schema) ?? ((body) => body);
}

/** Null: there are no ids in such a value. */
function idsIn(schema: JsonSchema): Rewrite | null {
  if (schema['format'] === 'uuid') return (value) => (typeof value === 'string' ? uuidOf(value) : value);
  const branches = branchesOf(schema).flatMap((branch) => idsIn(branch) ?? []);
  if (branches.length > 0) return (value) => branches.reduce((written, write) => write(written), value);
  const items = isSchema(schema['items']) ? idsIn(schema['items']) : null;
  if (items !== null) return (value) => (Array.isArray(value) ? value.map(items) : value);
  const properties = propertiesOf(schema).flatMap(([name, property]) => {
    const write = idsIn(property);
    return write === null ? [] : [{ name, write }];
  });
  if (properties.length === 0) return null;
  return (value) => {
    if (isJsonObject(value))
      for (const { name, write } of properties) if (Object.hasOwn(value, name)) value[name] = write(value[name]);
    return value;
  };
}

/** Makes a function that notes the names of a body that its schema does not describe, such as `session.plan`. */
export function unknownNamer(schema: JsonSchema): (body: unknown, into: UnknownNames) => void {
  const name = namesIn(schema);
  return (body, into) => name?.(body, '', into);
}

/** Null: any names are known in such a value. */
function namesIn(schema: JsonSchema): NameUnknown | null {
  const branches = branchesOf(schema).flatMap((branch) => namesIn(branch) ?? []);
  if (branches.length > 0) return (value, path, into) => branches.forEach((branch) => branch(value, path, into));
  const properties = new Map(propertiesOf(schema).map(([name, property]) => [name, namesIn(property)]));
  const { additionalProperties: free } = schema;
  const ofFree = isSchema(free) ? namesIn(free) : null;
  if (properties.size === 0 && ofFree === null) return null;
  return (value, path, into) => {
    if (!isJsonObject(value)) return;
    for (const name in value) {
      if (into.full) return;
      // Null stands for absent.
      if (value[name] === null) continue;
      const named = properties.size === 0 ? ofFree : properties.get(name);
      if (named === undefined) into.add(path + name);
      else named?.(value[name], `${path}${name}.`, into);
    }
  };
}

function branchesOf(schema: JsonSchema): readonly JsonSchema[] {
  return (schema['anyOf'] as JsonSchema[] | undefined) ?? [];
}

function propertiesOf(schema: JsonSchema): [string, JsonSchema][] {
  return Object.entries((schema['properties'] as Record<string, JsonSchema> | undefined) ?? {});
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null;
}
