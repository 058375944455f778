import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import { sessionList, spanList, traceList, type Filter, type ListDefinition } from '../../domain/list/definitions.js';
import { fieldSchemas } from '../../domain/list/read-schema.js';
import {
  internalOf,
  MAX_OFFSET,
  type AppliedFilter,
  type FilterValue,
  type ListQuery,
} from '../../domain/list/query.js';
import { oneOf } from '../../domain/schema/parts.js';
import { page } from './page.js';
import { mistakenForTags } from './mistaken-names.js';
import { csv, orNull, restAsTags, time } from './parameter.js';
import { queryOf, type QueryDefinition } from './query.js';

/** In characters; a URL has no room for more that would make sense. */
const MAX_TEXT = 10_000;
const MAX_ITEMS = 1000;

const text = (description: string) => Type.String({ maxLength: MAX_TEXT, description });

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
    "Whether the server's own calls of models (of judges, trials and optimizations), which it stores as spans, are listed " +
      'too, or alone. Default: false, but true where `id`, `trace_id`, `session_id` or one of their tags is asked for.',
  ),
);

/** The queries of the lists. */
export const listQueries: Readonly<Record<ListDefinition['name'], QueryDefinition<ListQuery>>> = {
  spans: listQueryOf(spanList),
  traces: listQueryOf(traceList),
  sessions: listQueryOf(sessionList),
};

/** The query of a list as text, for those who ask without HTTP. @throws DomainError `invalid` */
export function parseListQuery({ name }: ListDefinition, search: URLSearchParams): ListQuery {
  return listQueries[name].parse(search);
}

function listQueryOf(list: ListDefinition): QueryDefinition<ListQuery> {
  const filters = list.filters.map((filter) => [filter.parameter, Type.Optional(filterSchema(list, filter))] as const);
  const shared = sharedParameters(list);
  // Filters differ by list, so that the compiler knows of the shared parameters only.
  const schema = Type.Object({ ...Object.fromEntries(filters), ...shared }) as TObject as TObject<typeof shared>;
  return queryOf(schema, {
    to: ({ sort_by, sort_order, limit, offset, count, q = '', fields, tags, internal, ...rest }) => {
      const filters = list.filters.flatMap((filter) => applied(filter, rest));
      return {
        filters,
        tags,
        search: q === '' ? null : q,
        internal: internalOf(internal, filters, tags),
        sort: sort_by,
        descending: sort_order === 'desc',
        limit,
        offset,
        count,
        fields: fields === undefined ? null : Object.keys(list.fields).filter((name) => fields.includes(name)),
      };
    },
  });
}

/** Parameters that every list has beside its filters. */
function sharedParameters(list: ListDefinition) {
  const { maxLimit, defaultLimit } = list;
  return {
    sort_by: oneOf(
      list.sorts,
      'Field to sort by. Objects without a value come last either way; ties are broken by id.',
      list.defaultSort,
    ),
    sort_order: oneOf(['asc', 'desc'], 'Ascending or descending.', 'desc'),
    ...page({ maxLimit, defaultLimit, maxOffset: MAX_OFFSET }),
    count: Type.Boolean({
      default: false,
      description: 'Whether to count all matches too, in the header X-Total-Count.',
    }),
    q: Type.Optional(
      text('Text to find in input or output (for traces and sessions: of any of their spans), whatever its case.'),
    ),
    fields: Type.Optional(
      csv(oneOf(Object.keys(list.fields), 'Name of a field.'), {
        description: 'Fields to answer, by name, separated by commas. Default: all.',
      }),
    ),
    ...(list.hasInternal && { internal: INTERNAL }),
    tags: restAsTags(
      `Every parameter with another name is a filter by the tag of that name and value${TAGGED[list.name]}. All of them must ` +
        'match; the same one repeated matches any of its values. A tag whose key is also a parameter or a field is written ' +
        '`tags.<key>`. The header `X-Tag-Filters` of the answer has the keys that were taken as tags.',
      mistakenForTags(list),
    ),
  };
}

function filterSchema(list: ListDefinition, { field, comparison, description }: Filter): TSchema {
  const schema = parameterSchemas[list.fields[field]?.type ?? 'text'](description);
  switch (comparison) {
    case 'anyOf':
      return csv(text('One of the values.'), { description, maxItems: MAX_ITEMS });
    case 'isOrNull':
      return orNull(schema);
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
