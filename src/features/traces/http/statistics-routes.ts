import type { ListDefinition } from '../../../engine/traces/model/list/definitions.js';
import {
  startsAskedFor,
  type Facets,
  type FacetQuery,
  type Figures,
  type ListStatistics,
  type Property,
  type Series,
  type Statistics,
} from '../../../engine/traces/model/list/statistics.js';
import { SCORE_PREFIX } from '../../../engine/traces/model/list/query.js';
import { formatOptionalTimestamp, formatTimestamp } from '../../../engine/timestamp.js';
import { TAG_PREFIX } from '../../../http/parameter.js';
import { defineRoute } from '../../../http/route.js';
import { facetQueryOf, statisticsQueries } from '../../../http/statistics-query.js';
import { NOT_CURRENT, OBJECT_HEADERS, objectHeaders } from './object-headers.js';
import { FacetsRead, StatisticsRead } from './statistics-schema.js';

/** What a tag is of, where groups and facets go by tags. */
const TAGGED: Readonly<Record<ListDefinition['name'], string>> = {
  spans: '',
  traces:
    ' The tags of a trace are those by which the list finds it: its own, and those of its spans. If a tag has ' +
    'several values, the trace counts with each.',
  sessions:
    ' The tags of a session are those by which the list finds it: its own, and those of its traces and their ' +
    'spans. If a tag has several values, the session counts with each.',
};

/** `GET /spans:stats`, `/traces:stats` and `/sessions:stats`. */
export function statisticsRoute<const N extends ListDefinition['name']>(
  list: ListDefinition & { readonly name: N },
  store: Pick<ListStatistics, 'statistics'>,
) {
  const { name } = list;
  return defineRoute({
    method: 'GET',
    path: `/${name}:stats` as const,
    operationId: `get${capitalized(name)}Statistics`,
    summary: `Count ${name}, by time and group`,
    description: `Returns figures of all ${name} that \`GET /${name}\` lists with the same filters, regardless of paging: in total, by start time (\`started_at\`), and by the value of a field or tag. They equal a recount of the list at one moment. The limits of the list apply.${TAGGED[name]} ${NOT_CURRENT[name]}`,
    tag: 'Traces',
    access: 'key',
    bulk: true,
    query: statisticsQueries[name],
    responses: { 200: { description: 'The figures.', schema: StatisticsRead, headers: OBJECT_HEADERS } },
    errors: ['invalid', 'unavailable'],
    async handle({ principal, query, signal }) {
      const found = await store.statistics(name, principal.project_id, query, signal);
      return { status: 200, headers: objectHeaders(query.objects, found.notCurrent), json: statisticsJson(found) };
    },
  });
}

/** `GET /spans:facets`, `/traces:facets` and `/sessions:facets`. */
export function facetsRoute<const N extends ListDefinition['name']>(
  list: ListDefinition & { readonly name: N },
  store: Pick<ListStatistics, 'facets'>,
) {
  const { name } = list;
  return defineRoute({
    method: 'GET',
    path: `/${name}:facets` as const,
    operationId: `get${capitalized(name)}Facets`,
    summary: `List values of ${name}`,
    description: `Returns the values of a field or tag in the ${name} that \`GET /${name}\` lists with the same filters, or the keys of their tags, each with its count. Unless the query limits the time (\`started_…\`, \`created_…\`) or names an object by its id, only objects that started within the last seven days count, as \`from\` in the response says.${TAGGED[name]} ${NOT_CURRENT[name]}`,
    tag: 'Traces',
    access: 'key',
    bulk: true,
    query: facetQueryOf(list),
    responses: { 200: { description: 'The values.', schema: FacetsRead, headers: OBJECT_HEADERS } },
    errors: ['invalid', 'unavailable'],
    async handle({ principal, query, signal }) {
      const found = await store.facets(name, principal.project_id, query, signal);
      return { status: 200, headers: objectHeaders(query.objects, found.notCurrent), body: facetsBody(query, found) };
    },
  });
}

const capitalized = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** As JSON with every decimal of costs, which JavaScript's numbers would not keep: they are digits in quotes till the end. */
function statisticsJson({ from, to, bucketSeconds, starts, groups, rest, ...all }: Statistics): string {
  const times = starts.map(formatTimestamp);
  const series = ({ totals, buckets }: Series) => ({
    totals,
    buckets: buckets.map((figures: Figures, index) => ({ start: times[index], ...figures })),
  });
  const json = JSON.stringify({
    from: formatOptionalTimestamp(from),
    to: formatOptionalTimestamp(to),
    bucket_seconds: bucketSeconds,
    ...series(all),
    groups: groups.map(({ value, lastStart, ...group }) => ({
      value,
      last_started_at: formatOptionalTimestamp(lastStart),
      ...series(group),
    })),
    rest: rest && series(rest),
  });
  // No value of a client looks like this: its quotes are escaped.
  return json.replace(/"cost":"(-?[\d.]+)"/g, '"cost":$1');
}

function facetsBody({ objects, of }: FacetQuery, { values, total }: Facets) {
  const { from, to } = startsAskedFor(objects);
  const bounds = { from: formatOptionalTimestamp(from), to: formatOptionalTimestamp(to) };
  return { field: nameOf(of), ...bounds, values, total };
}

function nameOf(property: Property): string {
  switch (property.by) {
    case 'field':
      return property.field;
    case 'tag':
      return TAG_PREFIX + property.key;
    case 'tag keys':
      return 'tags';
    case 'score':
      return SCORE_PREFIX + property.name;
  }
}
