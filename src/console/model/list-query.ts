import { scoreOf } from '../../engine/traces/model/list/columns.js';
import { joinValues, splitValues } from '../../engine/traces/model/list/comma-values.js';
import {
  filteredField,
  listDefinitions,
  UNPRICED,
  type Comparison,
  type Filter,
  type ListDefinition,
} from '../../engine/traces/model/list/definitions.js';
import { SCORE_PREFIX } from '../../engine/traces/model/list/query.js';
import { changed } from './place.js';
import { boundsOf, RANGE_PARAMETERS, rangeOf, type TimeRange } from './range.js';

export type ListName = ListDefinition['name'];

export const LISTS = listDefinitions;

export const PAGE_SIZE = 100;
/** Of longer texts rows have a beginning and an end, as the API cuts them. */
export const TEXT_LIMIT = 600;

/** Parameters of the address that are the console's own; a tag of such a name is written `tags.<name>`, as everywhere. */
export const OWN: ReadonlySet<string> = new Set([
  ...RANGE_PARAMETERS,
  ...['columns', 'live', 'list', 'chart', 'chart_by', 'view'],
]);
/** Parameters of the API that say which part of the list is shown, and how. */
const PAGING = new Set(['sort_by', 'sort_order', 'limit', 'offset', 'count', 'fields', 'text_limit']);
const IDS = new Set(['id', 'trace_id', 'session_id']);
const TAG_PREFIX = 'tags.';
/** The key of the tag that says for whom something was done (`otlp/genai/context-fields.ts`). */
export const USER_TAG = 'user';

/** Something to filter by: with a value it becomes a condition. */
export interface Property {
  readonly parameter: string;
  /** Field and comparison in words, such as `Duration ≥`. */
  readonly words: string;
  readonly description: string;
  /** The field whose values fit; null: none has them. */
  readonly field: string | null;
  /** Whether the field is one of the spans of what is listed. */
  readonly ofSpans?: boolean;
  /** The only values that there are. */
  readonly values?: readonly string[];
  /** Whether more than one value may be given, any of which fits. */
  readonly several: boolean;
  /** Whether its values are numbers, of which a range may be given instead: `0.5..1`, `0.5..` or `..1`. */
  readonly hasRanges?: boolean;
}

export interface Condition extends Property {
  readonly value: string;
}

/** Every other comparison is one of equality. */
const COMPARED: Partial<Record<Comparison, string>> = { atLeast: '≥', atMost: '≤', unpriced: 'missing of' };

/** Names of fields as people read them. */
export function fieldLabel(name: string): string {
  const words = name
    .replace(/^root_span_|_(at|ms|data)$/g, '')
    .replace(/^(.+)_count$/, '$1s')
    .replaceAll('_', ' ')
    .replace(/\bid\b/, 'ID');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const SEARCH: Property = {
  parameter: 'q',
  words: 'Input, output or error contains',
  description: 'Text in input, output, error message or error code, case-insensitive.',
  field: null,
  several: false,
};

const INTERNAL: Property = {
  parameter: 'internal',
  words: 'Internal calls',
  description: 'Calls by judges, trials and optimizations: include them (true), or show only them (only).',
  field: null,
  values: ['true', 'false', 'only'],
  several: false,
};

const EXPERIMENTS: Property = {
  parameter: 'experiments',
  words: 'Experiments',
  description: 'Spans of experiments and their traces: include them (true), or show only them (only).',
  field: null,
  values: ['true', 'false', 'only'],
  several: false,
};

const EXPERIMENT: Property = {
  parameter: 'experiment_id',
  words: 'Experiment ID is',
  description: 'ID of an experiment whose spans, or whose traces, are shown.',
  field: null,
  several: false,
};

/** What a list has beside its filters where calls of models, and experiments, may be among its objects. */
const UNUSUAL = [INTERNAL, EXPERIMENTS, EXPERIMENT];

/** All that a list can be filtered by, but for tags, whose keys only the data has. */
export function propertiesOf(list: ListDefinition): Property[] {
  return [...list.filters.map((filter) => propertyOf(list, filter)), ...(list.hasInternal ? UNUSUAL : []), SEARCH];
}

function propertyOf(list: ListDefinition, filter: Filter): Property {
  const { parameter, field, comparison, ofSpans = false } = filter;
  if (comparison === 'unpriced')
    return {
      parameter,
      words: `${fieldLabel(field)} ${COMPARED[comparison] ?? ''}`,
      description: plain(filter.description),
      field: null,
      values: UNPRICED,
      several: false,
    };
  const { type, description = filter.description } = filteredField(list, filter) ?? {};
  const values = type === 'status' ? ['ok', 'error', 'unset'] : type === 'boolean' ? ['true', 'false'] : null;
  return {
    parameter,
    words: `${fieldLabel(field)} ${COMPARED[comparison] ?? 'is'}`,
    description: plain(description),
    field,
    ofSpans,
    ...(values !== null && { values }),
    several: isSeveral(filter),
  };
}

/** A description of the API without its marks of Markdown. */
function plain(description: string): string {
  return description.replaceAll('`', '');
}

/** The tag of a key: written with a prefix, so that it may be called like a parameter. */
export function tagProperty(key: string, parameter = TAG_PREFIX + key): Property {
  return {
    parameter,
    words: key === USER_TAG ? 'User is' : `Tag ${key} is`,
    description: 'Repeat a tag to match any of its values.',
    field: TAG_PREFIX + key,
    several: true,
  };
}

export function scoreProperty(name: string): Property {
  return {
    parameter: SCORE_PREFIX + name,
    words: `Score ${name} is`,
    description: 'A value, or a range of numbers: 0.5..1, 0.5.. or ..1.',
    field: SCORE_PREFIX + name,
    several: true,
  };
}

const RANGE = /^[\d.e+-]*\.\.[\d.e+-]*$/i;
/** Whether a value of a score is a range, which stands alone. */
const isRange = (parameter: string, value: string) => scoreOf(parameter) !== null && RANGE.test(value);

/** What the address filters by, in its order. Every parameter that is none of the API's is a tag, as for the API. */
export function conditionsOf(list: ListDefinition, query: URLSearchParams): Condition[] {
  const known = new Map(propertiesOf(list).map((property) => [property.parameter, property]));
  return [...query].flatMap(([parameter, text]) => {
    if (OWN.has(parameter) || PAGING.has(parameter)) return [];
    const property = known.get(parameter);
    const score = scoreOf(parameter);
    if (property === undefined && score === null) {
      const key = parameter.startsWith(TAG_PREFIX) ? parameter.slice(TAG_PREFIX.length) : parameter;
      return [{ ...tagProperty(key, parameter), value: text }];
    }
    const { several, ...rest } = property ?? scoreProperty(score ?? '');
    // Of a parameter that is repeated, each text is one value.
    const values = several && query.getAll(parameter).length === 1 ? splitValues(text) : [text];
    return values.map((value) => ({ ...rest, several, value }));
  });
}

/** The query with one condition more; where one value alone may be given, in place of the other. */
export function withCondition(list: ListDefinition, query: URLSearchParams, added: Condition): URLSearchParams {
  const { parameter, value, several } = added;
  const before = several && !isRange(parameter, value) ? valuesOf(list, query, parameter) : [];
  return rewritten(list, query, parameter, [
    ...before.filter((other) => other !== value && !isRange(parameter, other)),
    value,
  ]);
}

export function withoutCondition(list: ListDefinition, query: URLSearchParams, removed: Condition): URLSearchParams {
  const { parameter, value } = removed;
  const rest = valuesOf(list, query, parameter).filter((other) => other !== value);
  return rewritten(list, query, parameter, rest);
}

/** The query with neither conditions nor a page; range, sort and columns stay. */
export function withoutConditions(list: ListDefinition, query: URLSearchParams): URLSearchParams {
  const parameters = conditionsOf(list, query).map(({ parameter }) => [parameter, null] as const);
  return changed(query, { ...Object.fromEntries(parameters), offset: null });
}

/** Whether one of several values is meant, separated by commas. */
const isSeveral = ({ comparison }: Filter) => comparison === 'anyOf' || comparison === 'anyModel';

function valuesOf(list: ListDefinition, query: URLSearchParams, parameter: string): string[] {
  return conditionsOf(list, query).flatMap((condition) => (condition.parameter === parameter ? [condition.value] : []));
}

function rewritten(list: ListDefinition, query: URLSearchParams, parameter: string, values: readonly string[]) {
  const inOne =
    scoreOf(parameter) !== null || list.filters.some((filter) => filter.parameter === parameter && isSeveral(filter));
  const written = inOne && values.length > 0 ? [joinValues(values)] : values;
  return changed(query, { [parameter]: written, offset: null });
}

/** The time that a list shows: the last day, unless the address bounds it otherwise or names an object. */
export function listRangeOf(query: URLSearchParams): TimeRange {
  const said = RANGE_PARAMETERS.some((name) => query.has(name));
  const bounded = [...query.keys()].some((name) => IDS.has(name) || /^(started|created)_(after|before)$/.test(name));
  return !said && bounded ? { range: 'all', from: null, to: null } : rangeOf(query);
}

/** Which objects the list has, in parameters of the API: for its rows, counts, figures, values and tail. */
export function selectionOf(query: URLSearchParams): URLSearchParams {
  const selection = new URLSearchParams();
  for (const [name, value] of query) if (!OWN.has(name) && !PAGING.has(name)) selection.append(name, value);
  for (const [name, value] of Object.entries(boundsOf(listRangeOf(query))))
    if (!selection.has(name)) selection.append(name, value);
  return selection;
}

export interface Page {
  readonly sort: string;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** The part of the list that the address asks for. What it cannot mean counts as not said. */
export function pageOf(list: ListDefinition, query: URLSearchParams): Page {
  const whole = (name: string, otherwise: number, least: number, most: number) => {
    const value = Number(query.get(name) ?? NaN);
    return Number.isInteger(value) && value >= least && value <= most ? value : otherwise;
  };
  const sort = query.get('sort_by') ?? '';
  return {
    sort: list.sorts.includes(sort) || scoreOf(sort) !== null ? sort : list.defaultSort,
    descending: query.get('sort_order') !== 'asc',
    limit: whole('limit', PAGE_SIZE, 1, list.maxLimit),
    offset: whole('offset', 0, 0, 100_000_000),
  };
}

/** The call that answers the rows of a page. */
export function pageQuery(list: ListDefinition, query: URLSearchParams, fields?: readonly string[]): URLSearchParams {
  const { sort, descending, limit, offset } = pageOf(list, query);
  const asked = selectionOf(query);
  asked.set('sort_by', sort);
  asked.set('sort_order', descending ? 'desc' : 'asc');
  asked.set('limit', String(limit));
  if (offset > 0) asked.set('offset', String(offset));
  return fields === undefined ? asked : withFields(asked, fields);
}

/** The same call, for no more of each row than it shows. */
export function withFields(asked: URLSearchParams, fields: readonly string[]): URLSearchParams {
  return changed(asked, { fields: fields.join(','), text_limit: String(TEXT_LIMIT) });
}

/** Whether the newest objects are the first rows shown. */
export function isNewestFirst(list: ListDefinition, query: URLSearchParams): boolean {
  const { sort, descending, offset } = pageOf(list, query);
  return offset === 0 && descending && sort === list.defaultSort;
}

/** A list as the parameter `list` of a detail has it, so that next, previous and back know it: `spans?status=error`. */
export function listLink(name: ListName, query: URLSearchParams): string {
  const kept = changed(query, { live: null, columns: null });
  return kept.size === 0 ? name : `${name}?${kept.toString()}`;
}
