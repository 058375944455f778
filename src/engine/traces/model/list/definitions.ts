import { sessionFields, spanFields, traceFields, type Field } from './fields.js';

/**
 * How a filter compares its field with the value of its query parameter:
 * `is` equality; `isOrNull` equality, or the literal `null` for objects without a value; `isSet` any value at all; `anyOf` a comma-separated
 * list; `anyModel` the same of models, whose names may follow that of their provider; `atLeast` and `atMost` inclusive bounds, which leave out objects without a value; `inSession` whether a span's
 * trace belongs to the session, whatever the span itself says; `unpriced` whether a price would give the span a cost, which it
 * lacks: one of {@link UNPRICED}.
 */
export type Comparison =
  'is' | 'isOrNull' | 'isSet' | 'anyOf' | 'anyModel' | 'atLeast' | 'atMost' | 'inSession' | 'unpriced';

/** Calls without a cost: of any provider, or those that name none. */
export const UNPRICED = ['any', 'no_provider'] as const;

export interface Filter<Name extends string = string> {
  readonly parameter: string;
  readonly field: Name;
  readonly comparison: Comparison;
  /** Whether traces and sessions are found by the fields of their spans: of one span, by all such filters of a query. */
  readonly ofSpans?: true;
  readonly description: string;
}

/** A filter of traces and sessions by a field of their spans. */
export type SpanFilter = Filter<keyof typeof spanFields> & { readonly ofSpans: true };

/** Everything that is particular to one list; whatever lists share is written once, by these definitions. */
export interface ListDefinition<Name extends string = string> {
  readonly name: 'spans' | 'traces' | 'sessions';
  readonly fields: Readonly<Record<Name, Field>>;
  readonly filters: readonly (Filter<Name> | SpanFilter)[];
  readonly sorts: readonly Name[];
  readonly defaultSort: Name;
  /** Fields by whose values statistics group, and whose values facets count. */
  readonly groups: readonly Name[];
  readonly defaultLimit: number;
  readonly maxLimit: number;
  /** Whether the server's own calls of models may be among its objects. */
  readonly hasInternal: boolean;
}

export type ListName = ListDefinition['name'];

const is = <Name extends string>(field: Name, parameter: string = field): Filter<Name> => ({
  parameter,
  field,
  comparison: 'is',
  description: `Filters by ${field}: equal to this value.`,
});
const anyOf = <Name extends string>(field: Name, parameter: string): Filter<Name> => ({
  parameter,
  field,
  comparison: 'anyOf',
  description: `Filters by ${field}: equal to one of these values, separated by commas. If a value contains a comma, encode it as %2C once more, or repeat the parameter: each then has one value, taken as is.`,
});
const bounds = <Name extends string>(
  field: Name,
  stem: string,
  [low, high]: readonly [string, string],
): Filter<Name>[] => [
  { parameter: `${stem}_${low}`, field, comparison: 'atLeast', description: `Lower bound of ${field}, inclusive.` },
  { parameter: `${stem}_${high}`, field, comparison: 'atMost', description: `Upper bound of ${field}, inclusive.` },
];

const commonFilters = <Duration extends string>(duration: Duration) => [
  ...bounds('started_at', 'started', ['after', 'before']),
  ...bounds('created_at', 'created', ['after', 'before']),
  anyOf('name', 'names'),
  is('has_error'),
  ...bounds(duration, 'duration', ['min', 'max']),
  ...bounds('cost', 'cost', ['min', 'max']),
];

const callFilters = [
  {
    parameter: 'models',
    field: 'model',
    comparison: 'anyModel',
    description:
      'Filters by model: one of these names, separated by commas. `gpt-4o` also finds spans sent as ' +
      '`openai/gpt-4o`, of any provider; `openai/gpt-4o` finds only those of this provider.',
  },
  anyOf('provider', 'providers'),
  is('prompt_slug'),
  is('prompt_version'),
] as const satisfies readonly Filter<keyof typeof spanFields>[];

/** The same of traces and sessions. */
const callFiltersOfSpans = callFilters.map((filter): SpanFilter => ({
  ...filter,
  ofSpans: true,
  description: `${filter.description} Matches if any span in it does; if there are several such filters, one span must match all.`,
}));

/** The field that a filter is about. */
export function filteredField(list: ListDefinition, { field, ofSpans }: Filter): Field | undefined {
  return ofSpans === true ? (spanFields as Readonly<Record<string, Field>>)[field] : list.fields[field];
}

export const spanList = {
  name: 'spans',
  fields: spanFields,
  filters: [
    is('id'),
    is('trace_id'),
    {
      parameter: 'parent_span_id',
      field: 'parent_span_id',
      comparison: 'isOrNull',
      description: 'Only children of this span; the literal `null` selects root spans.',
    },
    {
      parameter: 'session_id',
      field: 'session_id',
      comparison: 'inSession',
      description: "All spans of the session's traces, including spans that do not name the session.",
    },
    is('kind', 'span_kind'),
    is('status'),
    anyOf('error_code', 'error_codes'),
    {
      parameter: 'unpriced',
      field: 'cost',
      comparison: 'unpriced',
      description:
        'any: only calls with known model and tokens but no cost, as `model-prices:unpriced` counts them; ' +
        'no_provider: only those of them that name no provider.',
    },
    ...commonFilters('duration_ms'),
    ...callFilters,
  ],
  sorts: ['started_at', 'name', 'status', 'duration_ms', 'cost', 'kind', 'model', 'input_tokens', 'output_tokens'],
  defaultSort: 'started_at',
  groups: [
    ...([
      'name',
      'kind',
      'status',
      'has_error',
      'error_code',
      'model',
      'provider',
      'prompt_slug',
      'prompt_version',
    ] as const),
    ...(['session_id', 'session_name', 'code_filepath'] as const),
  ],
  defaultLimit: 5000,
  maxLimit: 10_000,
  hasInternal: true,
} as const satisfies ListDefinition<keyof typeof spanFields>;

export const traceList = {
  name: 'traces',
  fields: traceFields,
  filters: [is('id'), is('session_id'), is('status'), ...commonFilters('duration_ms'), ...callFiltersOfSpans],
  sorts: ['started_at', 'name', 'status', 'span_count', 'duration_ms', 'cost', 'input_tokens', 'output_tokens'],
  defaultSort: 'started_at',
  groups: ['name', 'status', 'has_error', 'session_id'],
  defaultLimit: 50,
  maxLimit: 500,
  hasInternal: true,
} as const satisfies ListDefinition<keyof typeof traceFields>;

export const sessionList = {
  name: 'sessions',
  fields: sessionFields,
  filters: [is('id'), ...commonFilters('duration'), ...callFiltersOfSpans],
  sorts: ['created_at', 'name', 'trace_count', 'cost', 'duration', 'input_tokens', 'output_tokens'],
  defaultSort: 'created_at',
  groups: ['name', 'has_error'],
  defaultLimit: 50,
  maxLimit: 500,
  hasInternal: false,
} as const satisfies ListDefinition<keyof typeof sessionFields>;

/** Every list by its name. */
export const listDefinitions: Readonly<Record<ListDefinition['name'], ListDefinition>> = {
  spans: spanList,
  traces: traceList,
  sessions: sessionList,
};
