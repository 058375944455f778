import { sessionFields, spanFields, traceFields, type Field } from './fields.js';

/**
 * How a filter compares its field with the value of its query parameter:
 * `is` equality; `isOrNull` equality, or the literal `null` for objects without a value; `anyOf` a comma-separated
 * list; `atLeast` and `atMost` inclusive bounds, which leave out objects without a value; `inSession` whether a span's
 * trace belongs to the session, whatever the span itself says.
 */
export type Comparison = 'is' | 'isOrNull' | 'anyOf' | 'atLeast' | 'atMost' | 'inSession';

export interface Filter<Name extends string = string> {
  readonly parameter: string;
  readonly field: Name;
  readonly comparison: Comparison;
  readonly description: string;
}

/** Everything that is particular to one list; whatever lists share is written once, by these definitions. */
export interface ListDefinition<Name extends string = string> {
  readonly name: 'spans' | 'traces' | 'sessions';
  readonly fields: Readonly<Record<Name, Field>>;
  readonly filters: readonly Filter<Name>[];
  readonly sorts: readonly Name[];
  readonly defaultSort: Name;
  readonly defaultLimit: number;
  readonly maxLimit: number;
  /** Whether the server's own calls of models may be among its objects. */
  readonly hasInternal: boolean;
}

const is = <Name extends string>(field: Name, parameter: string = field): Filter<Name> => ({
  parameter,
  field,
  comparison: 'is',
  description: `Selects by ${field}: equal to this value.`,
});
const anyOf = <Name extends string>(field: Name, parameter: string): Filter<Name> => ({
  parameter,
  field,
  comparison: 'anyOf',
  description:
    `Selects by ${field}: equal to one of these values, separated by commas. A comma inside a value is written %2C once ` +
    'more encoded, or the parameter is repeated, each time with one value taken as it is.',
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
      description: "Every span of the session's traces, also of spans that do not name the session themselves.",
    },
    is('kind', 'span_kind'),
    is('status'),
    anyOf('error_code', 'error_codes'),
    ...commonFilters('duration_ms'),
  ],
  sorts: ['started_at', 'name', 'status', 'duration_ms', 'cost', 'kind'],
  defaultSort: 'started_at',
  defaultLimit: 5000,
  maxLimit: 10_000,
  hasInternal: true,
} as const satisfies ListDefinition<keyof typeof spanFields>;

export const traceList = {
  name: 'traces',
  fields: traceFields,
  filters: [is('id'), is('session_id'), is('status'), ...commonFilters('duration_ms')],
  sorts: ['started_at', 'name', 'status', 'span_count', 'duration_ms', 'cost'],
  defaultSort: 'started_at',
  defaultLimit: 50,
  maxLimit: 500,
  hasInternal: true,
} as const satisfies ListDefinition<keyof typeof traceFields>;

export const sessionList = {
  name: 'sessions',
  fields: sessionFields,
  filters: [is('id'), ...commonFilters('duration')],
  sorts: ['created_at', 'name', 'trace_count', 'cost', 'duration'],
  defaultSort: 'created_at',
  defaultLimit: 50,
  maxLimit: 500,
  hasInternal: false,
} as const satisfies ListDefinition<keyof typeof sessionFields>;
