import { Type, type Static, type TObject, type TProperties, type TSchema } from '@sinclair/typebox';
import { filteredField, UNPRICED, type Filter, type ListDefinition } from '../engine/traces/model/list/definitions.js';
import { fieldSchemas } from '../engine/traces/model/list/read-schema.js';
import { experimentsOf, internalOf, type AppliedFilter, type FilterValue } from '../engine/traces/model/list/query.js';
import { oneOf, uuid } from '../engine/schema/parts.js';
import { mistakenForTags } from './mistaken-names.js';
import { csv, orNull, restAsTags, time } from './parameter.js';
import { scoreFilters } from './score-parameters.js';

/** In characters; a URL has no room for more that would make sense. */
const MAX_TEXT = 10_000;
const MAX_ITEMS = 1000;
/** In characters, of a text to find: more of them make it no rarer, and each takes time at every place that looks alike. */
const MAX_SEARCHED = 1000;

const text = (description: string, maxLength = MAX_TEXT) => Type.String({ maxLength, description });

/** Schemas of parameters by type: those of answered fields, but for times (written in several ways) and texts (of any length). */
const parameterSchemas: typeof fieldSchemas = { ...fieldSchemas, time, text };

/** Where a tag may be for a list to find an object by it. */
const TAGGED: Readonly<Record<ListDefinition['name'], string>> = {
  spans: '',
  traces: ', of the trace itself or of any of its spans',
  sessions: ', of the session itself, of any of its traces or of any of their spans',
};

const INTERNAL = Type.Optional(
  oneOf(
    ['true', 'false', 'only'],
    "Whether the server's own calls of models (of judges, trials, optimizations and the playground), which it stores as spans, are listed " +
      'too, or alone. Default: false, but true where `id`, `trace_id`, `session_id` or one of their tags is asked for.',
  ),
);

const EXPERIMENTS = Type.Optional(
  oneOf(
    ['true', 'false', 'only'],
    'Whether spans of experiments are listed too, or alone, with everything in their traces and in those that they were made in. ' +
      'Default: false, but true where `id`, `trace_id`, `session_id` or `experiment_id` is asked for.',
  ),
);

const EXPERIMENT: Readonly<Record<ListDefinition['name'], string>> = {
  spans: 'Only spans of this experiment, by their attributes.',
  traces: 'Only traces that hold a span of this experiment, or in which one of its results was made.',
  sessions: '',
};

/** Parameters of a list, one for each filter, with others. Filters differ by list, so that the compiler knows of the others only. */
export function withFilters<P extends TProperties>(list: ListDefinition, others: P): TObject<P> {
  const filters = list.filters.map((filter) => [filter.parameter, Type.Optional(filterSchema(list, filter))] as const);
  return Type.Object({ ...Object.fromEntries(filters), ...others }) as TObject as TObject<P>;
}

/**
 * Parameters by which objects are selected, beside filters.
 * @param paging parameters of the list that the call has not, so that nobody means them as tags
 */
export function selectionParameters(list: ListDefinition, paging: readonly string[] = []) {
  return {
    q: Type.Optional(
      text(
        'Text to find in input, output, error message or error code (for traces and sessions: of any of their spans), whatever its case.',
        MAX_SEARCHED,
      ),
    ),
    ...(list.hasInternal && {
      internal: INTERNAL,
      experiments: EXPERIMENTS,
      experiment_id: Type.Optional(uuid(EXPERIMENT[list.name])),
    }),
    scores: scoreFilters,
    tags: restAsTags(
      `Every parameter with another name is a filter by the tag of that name and value${TAGGED[list.name]}. All of them must ` +
        'match; the same one repeated matches any of its values. A tag whose key is also a parameter or a field is written ' +
        '`tags.<key>`. The header `X-Tag-Filters` of the answer has the keys that were taken as tags.',
      mistakenForTags(list, paging),
    ),
  };
}

export type SelectionValues = Static<TObject<ReturnType<typeof selectionParameters>>>;

/** What is selected by the values of {@link selectionParameters} and of filters. */
export function selectionOf(list: ListDefinition, values: SelectionValues) {
  const { q = '', tags, scores, internal, experiments, experiment_id, ...rest } = values;
  const experiment = experiment_id ?? null;
  const filters = list.filters.flatMap((filter) => applied(filter, rest));
  return {
    ...{ filters, tags, scores, search: q === '' ? null : q, experiment },
    internal: internalOf(internal, filters, tags),
    experiments: experimentsOf(experiments, filters, experiment),
  };
}

function filterSchema(list: ListDefinition, filter: Filter): TSchema {
  const { comparison, description } = filter;
  const schema = parameterSchemas[filteredField(list, filter)?.type ?? 'text'](description);
  switch (comparison) {
    case 'anyOf':
    case 'anyModel':
      return csv(text('One of the values.'), { description, maxItems: MAX_ITEMS });
    case 'isOrNull':
      return orNull(schema);
    case 'unpriced':
      return oneOf(UNPRICED, description);
    default:
      return schema;
  }
}

function applied(
  filter: Filter,
  values: Readonly<Record<string, FilterValue | readonly FilterValue[]>>,
): AppliedFilter[] {
  const value = values[filter.parameter];
  if (value === undefined) return [];
  return [{ filter, values: value instanceof Array ? value : [value] }];
}
