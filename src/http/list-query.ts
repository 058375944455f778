import { Type, type Static, type TObject, type TProperties } from '@sinclair/typebox';
import { sessionList, spanList, traceList, type ListDefinition } from '../engine/traces/model/list/definitions.js';
import { namedFields } from '../engine/traces/model/list/fields.js';
import { defaultQuery, MAX_OFFSET, TEXT_LIMITS, type ListQuery } from '../engine/traces/model/list/query.js';
import type { ExportFormat } from '../engine/traces/model/list/export.js';
import { oneOf } from '../engine/schema/parts.js';
import { page } from './page.js';
import type { State } from '../engine/traces/model/list/tail.js';
import { selectionOf, selectionParameters, withFilters, type SelectionValues } from './list-selection.js';
import { csv } from './parameter.js';
import { exportFormat } from './parameters.js';
import { sortOf } from './score-parameters.js';
import { queryOf, type QueryDefinition } from './query.js';

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

/** Filters alone. */
const selectionQueries: Readonly<Record<ListDefinition['name'], QueryDefinition<ListQuery>>> = {
  spans: queryAbout(spanList, {}, (query) => query),
  traces: queryAbout(traceList, {}, (query) => query),
  sessions: queryAbout(sessionList, {}, (query) => query),
};

/**
 * The filters of a list as text, of calls about all that they find.
 * @throws DomainError `invalid`, also for parameters of pages and of what is shown
 */
export function parseSelection({ name }: ListDefinition, search: URLSearchParams): ListQuery {
  return selectionQueries[name].parse(search);
}

/** Filters, and the order of what they find. */
const sortedQueries: Readonly<Record<ListDefinition['name'], QueryDefinition<ListQuery>>> = {
  spans: sortedQueryOf(spanList),
  traces: sortedQueryOf(traceList),
  sessions: sortedQueryOf(sessionList),
};

/** The filters and the order of a list as text, as {@link parseSelection}. @throws DomainError `invalid` */
export function parseSorted({ name }: ListDefinition, search: URLSearchParams): ListQuery {
  return sortedQueries[name].parse(search);
}

function sortedQueryOf(list: ListDefinition): QueryDefinition<ListQuery> {
  const { sort_by, sort_order } = pageParameters(list);
  return queryAbout(list, { sort_by, sort_order }, (query, sorted) => ({
    ...query,
    sort: sorted.sort_by,
    descending: sorted.sort_order === 'desc',
  }));
}

/** Filters, and what of the objects is shown. */
const shownQueries: Readonly<Record<ListDefinition['name'], QueryDefinition<ListQuery>>> = {
  spans: shownQueryOf(spanList),
  traces: shownQueryOf(traceList),
  sessions: shownQueryOf(sessionList),
};

/** The filters, `fields` and `text_limit` of a list as text, as {@link parseSelection}. @throws DomainError `invalid` */
export function parseShown({ name }: ListDefinition, search: URLSearchParams): ListQuery {
  return shownQueries[name].parse(search);
}

function shownQueryOf(list: ListDefinition): QueryDefinition<ListQuery> {
  return queryAbout(list, shownParameters(list), (query, shown) => ({ ...query, ...shownOf(list, shown) }));
}

function listQueryOf(list: ListDefinition): QueryDefinition<ListQuery> {
  const { q, ...selection } = selectionParameters(list);
  const { fields, text_limit, ...page } = pageParameters(list);
  const schema = withFilters(list, { ...page, q, fields, text_limit, ...selection });
  return queryOf(schema, {
    to: ({ sort_by, sort_order, limit, offset, count, fields, text_limit, ...selected }) => ({
      ...selectionOf(list, selected),
      sort: sort_by,
      descending: sort_order === 'desc',
      limit,
      offset,
      count,
      ...shownOf(list, { fields, text_limit }),
    }),
  });
}

/** Parameters by which a list is asked for a page. */
function pageParameters(list: ListDefinition) {
  const { maxLimit, defaultLimit } = list;
  return {
    sort_by: sortOf(list),
    sort_order: oneOf(['asc', 'desc'], 'Ascending or descending.', 'desc'),
    ...page({ maxLimit, defaultLimit, maxOffset: MAX_OFFSET }),
    count: Type.Boolean({
      default: false,
      description: 'Whether to count all matches too, in the header X-Total-Count.',
    }),
    ...shownParameters(list),
  };
}

/** What of the objects is wanted. */
function shownParameters(list: ListDefinition) {
  return {
    fields: Type.Optional(
      csv(oneOf(fieldsOf(list), 'Name of a field.'), {
        description: `Fields to answer, by name, separated by commas. Default: all but ${Object.keys(namedFields).join(', ')}.`,
      }),
    ),
    text_limit: Type.Optional(
      Type.Integer({
        ...TEXT_LIMITS,
        description:
          'Of texts with more characters (inputs and outputs, errors, names; not of tags and attributes) the middle is ' +
          'left out, and in its place stands how much. Default: texts are whole.',
      }),
    ),
  };
}

function fieldsOf(list: ListDefinition): string[] {
  return [...Object.keys(list.fields), ...Object.keys(namedFields)];
}

interface ShownValues {
  readonly fields?: readonly string[] | undefined;
  readonly text_limit?: number | undefined;
}

function shownOf(list: ListDefinition, { fields, text_limit }: ShownValues): Pick<ListQuery, 'fields' | 'textLimit'> {
  const asked = fields === undefined ? null : fieldsOf(list).filter((name) => fields.includes(name));
  return { fields: asked, textLimit: text_limit ?? null };
}

/** What a tail is asked for: what of its list, and from which state on; null: from now on. */
export interface TailQuery {
  readonly query: ListQuery;
  readonly after: State | null;
}

/** The query of the tail of a list. */
export function tailQueryOf(list: ListDefinition): QueryDefinition<TailQuery> {
  const after = Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description:
      'Id of the last event that was seen; the header `Last-Event-ID` counts before it. Default: from now on.',
  });
  const own = { after: Type.Optional(after), ...shownParameters(list) };
  return queryAbout(list, own, (query, { after = null, ...shown }) => ({
    query: { ...query, ...shownOf(list, shown) },
    after,
  }));
}

/** What an export is asked for. */
export interface ExportQuery {
  readonly query: ListQuery;
  readonly format: ExportFormat;
}

/** The query of an export of a list. */
export function exportQueryOf(list: ListDefinition): QueryDefinition<ExportQuery> {
  const own = { format: exportFormat, ...shownParameters(list) };
  return queryAbout(list, own, (query, { format, ...shown }) => ({
    query: { ...query, ...shownOf(list, shown) },
    format,
  }));
}

/**
 * The query of a call about all objects of a list that its filters select: the parameters of the list, but for those of a page.
 * @param own the call's own parameters, none of which is called like a filter
 */
export function queryAbout<P extends TProperties, Q>(
  list: ListDefinition,
  own: P,
  to: (objects: ListQuery, values: Static<TObject<P>>) => Q,
): QueryDefinition<Q> {
  const paging = Object.keys(pageParameters(list)).filter((name) => !(name in own));
  const schema = withFilters<TProperties>(list, { ...own, ...selectionParameters(list, paging) });
  return queryOf(schema, {
    to: (values) => {
      const objects = { ...defaultQuery(list), ...selectionOf(list, values as SelectionValues) };
      return to(objects, values as Static<TObject<P>>);
    },
  });
}
