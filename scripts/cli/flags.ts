import { Option } from 'commander';
import type { ApiCall, ApiParameter } from '../../src/http/api-calls.js';

/** A parameter as flags, and how the values of these are what it is asked for with. */
export interface ParameterFlags {
  readonly parameter: ApiParameter;
  /** Name of the value among those of a command. */
  readonly attribute: string;
  readonly options: readonly Option[];
}

/** Parameters that bound a time, in the order in which one of them is called `--since` or `--until`. */
const SINCE = ['started_after', 'created_after', 'start_date', 'figures_since'];
const UNTIL = ['started_before', 'created_before', 'end_date'];
const SHORT_NAMES: Readonly<Record<string, string>> = { q: 'search', tags: 'tag', scores: 'score' };

/** The flags of the parameters in a call's query. */
export function flagsOf({ parameters }: ApiCall): ParameterFlags[] {
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const names = inQuery.map(({ name }) => name);
  const since = SINCE.find((name) => names.includes(name));
  const until = UNTIL.find((name) => names.includes(name));
  return inQuery.map((parameter) => {
    const { name } = parameter;
    const short = name === since ? 'since' : name === until ? 'until' : shortName(name);
    return flagOf(parameter, short !== undefined && !names.includes(short) ? `--${short}, ` : '');
  });
}

/** The flag of a parameter, as people write it. */
export function flagName(parameter: string): string {
  return `--${parameter.replaceAll('_', '-')}`;
}

function shortName(name: string): string | undefined {
  const [, bounded = '', bound = ''] = /^(.+)_(min|max)$/.exec(name) ?? [];
  return bound === '' ? SHORT_NAMES[name] : `${bound}-${bounded.replaceAll('_', '-')}`;
}

function flagOf(parameter: ApiParameter, short: string): ParameterFlags {
  const { schema, required } = parameter;
  const long = flagName(parameter.name);
  const described = descriptionOf(parameter);
  if (schema.type === 'boolean') {
    const yes = new Option(long, described);
    const no = new Option(long.replace('--', '--no-'), 'the opposite');
    return { parameter, attribute: yes.attributeName(), options: [yes, no] };
  }
  const option = new Option(`${short}${long} <${placeholderOf(parameter)}>`, described);
  if (schema.type === 'array' || schema.type === 'object') option.argParser(collected);
  else if (schema.enum !== undefined) option.choices(schema.enum.map(String));
  return { parameter, attribute: option.attributeName(), options: [option.makeOptionMandatory(required)] };
}

const collected = (text: string, earlier: readonly string[] | undefined) => [...(earlier ?? []), text];

function placeholderOf({ name, schema }: ApiParameter): string {
  if (schema.type === 'object') return 'name=value';
  if (schema['format'] === 'date-time') return 'time';
  if (schema.type === 'integer' || schema.type === 'number') return 'n';
  return name === 'q' ? 'text' : schema.type === 'array' ? 'values' : 'value';
}

function descriptionOf({ schema }: ApiParameter): string {
  const { description = '', default: fallback, enum: choices } = schema;
  const known =
    fallback === undefined || schema.type === 'boolean'
      ? ''
      : ` Default: ${JSON.stringify(fallback).replace(/^"|"$/g, '')}.`;
  const repeated = schema.type === 'object' ? ' May be repeated.' : '';
  return `${description}${repeated}${choices === undefined && !description.includes('Default:') ? known : ''}`;
}

/** The values of a call's parameters, by their names. @param given the values of the command's options */
export function valuesOf(
  flags: readonly ParameterFlags[],
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const { parameter, attribute } of flags) {
    const value = given[attribute];
    if (value === undefined) continue;
    values[parameter.name] =
      parameter.schema.type === 'object' ? byName(value as readonly string[], flagName(parameter.name)) : value;
  }
  return values;
}

/** A flag whose value is none. */
export class FlagError extends Error {}

function byName(pairs: readonly string[], flag: string): Record<string, string[]> {
  const values: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  for (const pair of pairs) {
    const place = pair.indexOf('=');
    if (place < 1) throw new FlagError(`${flag} must be name=value, such as ${flag} user=ada, not ${pair}`);
    (values[pair.slice(0, place)] ??= []).push(pair.slice(place + 1));
  }
  return values;
}
