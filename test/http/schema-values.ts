import { randomUUID } from 'node:crypto';
import { ID } from '../../src/engine/schema/ids.js';
import type { ApiDocument, Schema } from '../harness/api-document.js';
import { below, oddValues, pick, type Random } from './malformed-requests.js';

/** Texts that fit the patterns of the document. */
const texts = ['p', 'a', '1', 'llm', 'production', '2026-01-31T10:00:00Z', '0'.repeat(64), 'x y', 'é'.repeat(20), ''];
const OPTIONAL = 0.4;
const NULL = 0.3;

export interface ValueOptions {
  readonly random: Random;
  readonly document: ApiDocument;
  /** By the name of a member or parameter: what refers to something that is there. */
  readonly known: Readonly<Record<string, unknown>>;
  /** Share of the places where something stands that does not fit. */
  readonly odd: number;
}

/** JSON text of a value that the schema describes, but for what is odd in it. */
export function valueText(schema: Schema, options: ValueOptions, name = ''): string {
  const { random, known, odd } = options;
  if (random() < odd) return pick(random, oddValues);
  const found = options.document.resolve(schema);
  if (name in known && found['type'] !== 'object' && (odd === 0 || random() < 0.9)) return JSON.stringify(known[name]);
  if ('const' in found) return JSON.stringify(found['const']);
  if ('enum' in found) return JSON.stringify(pick(random, found['enum'] as unknown[]));
  const choices = (found['anyOf'] ?? found['oneOf']) as Schema[] | undefined;
  if (choices !== undefined) return valueText(chosen(random, choices), { ...options, odd: 0 });
  switch (found['type']) {
    case 'object':
      return objectText(found, options);
    case 'array':
      return arrayText(found, options);
    case 'string':
      return JSON.stringify(textOf(found, random));
    case 'integer':
    case 'number':
      return String(numberOf(found, random));
    case 'boolean':
      return String(random() < 0.5);
    default:
      return found['type'] === 'null' ? 'null' : pick(random, ['1', '"x"', 'null', '[]', '{"a":{"b":[1]}}']);
  }
}

function chosen(random: Random, choices: readonly Schema[]): Schema {
  const values = choices.filter(({ type }) => type !== 'null');
  return values.length < choices.length && random() < NULL ? { type: 'null' } : pick(random, values);
}

function arrayText({ items = {}, minItems = 0 }: Schema, options: ValueOptions): string {
  const length = Math.max(minItems as number, below(options.random, 4));
  return `[${Array.from({ length }, () => valueText(items as Schema, options)).join(',')}]`;
}

function objectText(
  { properties = {}, required = [], additionalProperties, patternProperties }: Schema,
  options: ValueOptions,
) {
  const { random, odd } = options;
  const members = Object.entries<Schema>(properties)
    .filter(([name]) => random() < ((required as string[]).includes(name) ? 1 - odd / 2 : OPTIONAL))
    .map(([name, schema]) => `${JSON.stringify(name)}:${valueText(schema, options, name)}`);
  const [any] = [additionalProperties, ...Object.values<Schema>(patternProperties ?? {})].filter(
    (of) => typeof of === 'object',
  );
  if (any !== undefined)
    for (let count = below(random, 3); count > 0; count -= 1)
      members.push(`${JSON.stringify(pick(random, ['a', 'b', '', 'b\nc', '__proto__']))}:${valueText(any, options)}`);
  return `{${members.join(',')}}`;
}

function textOf({ format, pattern, minLength = 0, maxLength = Infinity }: Schema, random: Random): string {
  if (format === 'uuid' || pattern === ID.source) return randomUUID();
  if (format === 'date-time') return '2026-01-31T10:00:00.000000Z';
  const fitting = texts.filter(
    (text) =>
      text.length >= minLength && text.length <= maxLength && (pattern === undefined || new RegExp(pattern).test(text)),
  );
  return fitting.length === 0 ? '' : pick(random, fitting);
}

function numberOf({ type, minimum = -20, maximum = 20 }: Schema, random: Random): number {
  const least = Math.min(minimum as number, maximum as number);
  const most = Math.max(least, Math.min(maximum as number, least + 20));
  const value = pick(random, [least, most, least + random() * (most - least)]);
  return type === 'integer' ? Math.floor(value) : value;
}
