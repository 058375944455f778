import { DomainError, MAX_ISSUES, type Issue } from '../errors.js';
import { KIND } from '../schema/kind.js';
import { parseTimestampText } from '../time/timestamp.js';
import type { Filter, ListDefinition } from './definitions.js';
import type { FieldType } from './fields.js';

/** Times are given in microseconds. */
export type FilterValue = string | number | boolean | null;

export interface AppliedFilter {
  readonly filter: Filter;
  /** One value, or those of `anyOf`; null only for `isOrNull`. */
  readonly values: readonly FilterValue[];
}

/** A checked request for a page of a list. */
export interface ListQuery {
  readonly filters: readonly AppliedFilter[];
  /** Tag key → accepted values; every key must match one of its values. */
  readonly tags: ReadonlyMap<string, readonly string[]>;
  /** Text to be found in input or output, ignoring case. */
  readonly search: string | null;
  readonly sort: string;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
  /** Also count everything that matches. */
  readonly count: boolean;
  /** Names of the fields to answer; null: all. */
  readonly fields: readonly string[] | null;
}

/** Larger offsets would have the store sort more rows than anybody pages through. */
export const MAX_OFFSET = 100_000_000;
/** Longer search texts, names or tag values in a query are refused. */
const MAX_TEXT = 10_000;

const TAG_PREFIX = 'tags.';
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
]);
const STATUSES = new Set(['unset', 'ok', 'error']);

/** The parameters that every list knows beside its filters. */
export const listParameters = ['sort_by', 'sort_order', 'limit', 'offset', 'count', 'q', 'fields'] as const;

/**
 * Reads the query string of a list. Every parameter that is not known is a tag filter; `tags.<key>` is one always.
 * @throws DomainError `invalid` that names every bad parameter.
 */
export function parseListQuery(list: ListDefinition, search: URLSearchParams): ListQuery {
  const reader = new ParameterReader(search);
  const filters = list.filters.flatMap((filter) => reader.filter(filter, list.fields[filter.field]?.type ?? 'text'));
  const query: ListQuery = {
    filters,
    sort: reader.oneOf('sort_by', list.sorts) ?? list.defaultSort,
    descending: (reader.oneOf('sort_order', ['asc', 'desc']) ?? 'desc') === 'desc',
    limit: reader.integer('limit', 1, list.maxLimit) ?? list.defaultLimit,
    offset: reader.integer('offset', 0, MAX_OFFSET) ?? 0,
    count: reader.typed('count', 'boolean') === true,
    search: reader.text('q'),
    fields: reader.fields(Object.keys(list.fields)),
    tags: reader.tags(new Set([...listParameters, ...list.filters.map((filter) => filter.parameter)])),
  };
  reader.finish();
  return query;
}

class ParameterReader {
  private readonly issues: Issue[] = [];
  private readonly search: URLSearchParams;

  constructor(search: URLSearchParams) {
    this.search = search;
  }

  finish(): void {
    if (this.issues.length > 0)
      throw new DomainError('invalid', 'The query has invalid parameters.', { issues: this.issues });
  }

  filter(filter: Filter, type: FieldType): AppliedFilter[] {
    const { parameter } = filter;
    if (!this.search.has(parameter)) return [];
    if (filter.comparison === 'anyOf') {
      const items = this.items(parameter);
      return items.length > 0 ? [{ filter, values: items }] : [];
    }
    if (filter.comparison === 'isOrNull' && this.search.get(parameter) === 'null') return [{ filter, values: [null] }];
    const value = this.typed(parameter, type);
    return value === undefined ? [] : [{ filter, values: [value] }];
  }

  /** A comma separates items and is itself written `%2C` (and `%2C` as `%252C`); a repeated parameter is literal. */
  private items(parameter: string): string[] {
    const given = this.search.getAll(parameter);
    const items =
      given.length > 1
        ? given
        : (given[0] ?? '')
            .split(',')
            .map((item) => item.replace(/%(?:2C|25(?=(?:25)*2C))/gi, (code) => (/2C/i.test(code) ? ',' : '%')));
    if (items.every((item) => item === '')) this.fail(parameter, 'must name at least one');
    else if (items.length > 1000) this.fail(parameter, 'must name at most 1000');
    else if (items.some((item) => item.length > MAX_TEXT)) this.fail(parameter, 'is too long');
    else return items.filter((item) => item !== '');
    return [];
  }

  typed(parameter: string, type: FieldType): string | number | boolean | undefined {
    const text = this.single(parameter);
    if (text === undefined) return undefined;
    const [value, rule] = readValue(type, text);
    if (value === undefined) this.fail(parameter, rule);
    return value;
  }

  text(parameter: string): string | null {
    const text = this.single(parameter);
    if (text === undefined || text === '') return null;
    if (text.length <= MAX_TEXT) return text;
    this.fail(parameter, `must be at most ${MAX_TEXT} characters long`);
    return null;
  }

  oneOf<T extends string>(parameter: string, allowed: readonly T[]): T | undefined {
    const text = this.single(parameter);
    if (text === undefined || allowed.includes(text as T)) return text as T | undefined;
    this.fail(parameter, `must be one of ${allowed.join(', ')}`);
    return undefined;
  }

  integer(parameter: string, minimum: number, maximum: number): number | undefined {
    const text = this.single(parameter);
    if (text === undefined) return undefined;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN;
    if (value >= minimum && value <= maximum) return value;
    this.fail(parameter, `must be a whole number from ${minimum} to ${maximum}`);
    return undefined;
  }

  fields(known: readonly string[]): readonly string[] | null {
    const given = this.search.getAll('fields');
    if (given.length === 0) return null;
    const asked = new Set(given.flatMap((item) => item.split(',')));
    const unknown = [...asked].filter((name) => !known.includes(name));
    if (unknown.length > 0) this.fail('fields', `must be among ${known.join(', ')}`);
    return known.filter((name) => asked.has(name));
  }

  tags(known: ReadonlySet<string>): Map<string, string[]> {
    const tags = new Map<string, string[]>();
    for (const [parameter, value] of this.search) {
      if (known.has(parameter)) continue;
      const key = parameter.startsWith(TAG_PREFIX) ? parameter.slice(TAG_PREFIX.length) : parameter;
      const values = tags.get(key);
      if (values) values.push(value);
      else tags.set(key, [value]);
    }
    if (tags.size > MAX_ISSUES) this.fail('tags', `at most ${MAX_ISSUES} tag filters`);
    return tags;
  }

  private single(parameter: string): string | undefined {
    const given = this.search.getAll(parameter);
    if (given.length > 1) this.fail(parameter, 'must be given once');
    return given[0];
  }

  private fail(parameter: string, detail: string): void {
    this.issues.push({ pointer: `?${parameter}`, detail });
  }
}

/** The value that a query parameter's text stands for, or undefined with the rule it breaks. */
function readValue(type: FieldType, text: string): [string | number | boolean | undefined, string] {
  switch (type) {
    case 'id':
      return [UUID.test(text) ? text.toLowerCase() : undefined, 'must be a UUID'];
    case 'time':
      return [parseTimestampText(text), 'must be an ISO 8601 time, or a number of Unix seconds or milliseconds'];
    case 'number':
    case 'money':
    case 'integer':
      return [NUMBER.test(text) && Number.isFinite(Number(text)) ? Number(text) : undefined, 'must be a number'];
    case 'boolean':
      return [BOOLEANS.get(text.toLowerCase()), 'must be true or false'];
    case 'kind':
      return [KIND.test(text) ? text : undefined, `must match ${KIND.source}`];
    case 'status':
      return [STATUSES.has(text) ? text : undefined, 'must be one of unset, ok, error'];
    default:
      return [text.length <= MAX_TEXT ? text : undefined, `must be at most ${MAX_TEXT} characters long`];
  }
}
