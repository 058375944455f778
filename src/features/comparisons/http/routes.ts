import type { IncomingHttpHeaders } from 'node:http';
import { Type } from '@sinclair/typebox';
import Negotiator from 'negotiator';
import { oneOf, uuid } from '../../../engine/schema/parts.js';
import { page } from '../../../http/page.js';
import { project_id, ProjectParams } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { VERDICTS } from '../comparison.js';
import type { ComparisonService } from '../comparison-service.js';
import type { Comparison } from '../comparison-store.js';
import { toJUnit } from '../reports/junit.js';
import { toMarkdown } from '../reports/markdown.js';
import { ComparisonInput } from '../input-schema.js';
import { ComparedRow, ROW_OUTCOMES } from '../row-schema.js';
import { ComparisonRead, ListedComparisonRead } from '../schema.js';
import { TAG, toComparisonRead, toListedRead, toRowRead } from './presenters.js';

/** Comparisons of experiments. */
export function comparisonRoutes(comparisons: ComparisonService) {
  return [
    createComparisonRoute(comparisons),
    listComparisonsRoute(comparisons),
    getComparisonRoute(comparisons),
    listComparedRowsRoute(comparisons),
    deleteComparisonRoute(comparisons),
  ];
}

const ComparisonParams = Type.Object({ project_id, comparison_id: uuid('Id of the comparison.') });
const FORMATS = 'As JSON; by `Accept: text/markdown` as Markdown, by `Accept: application/xml` as a JUnit report.';

function createComparisonRoute(comparisons: ComparisonService) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/comparisons',
    operationId: 'createComparison',
    summary: 'Compare two experiments',
    description: `Compares two finished experiments of one dataset row by row and judges each metric by its rule, with \`wait_seconds\` once both are finished. The comparison is stored. Returns 409 while an experiment is running, or a judge evaluates it. ${FORMATS}`,
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(ComparisonInput),
    responses: { 201: { description: 'What was found.', schema: ComparisonRead } },
    errors: ['not_found', 'conflict', 'overloaded', 'too_large', 'unavailable'],
    async handle({ principal, body, headers, signal }) {
      const comparison = await comparisons.compare(principal, body, signal);
      const location = `/projects/${principal.project_id}/comparisons/${comparison.id}`;
      return { status: 201, ...rendered(comparison, headers, { Location: location }) };
    },
  });
}

const ListQuery = Type.Object({
  experiment_id: Type.Optional(uuid('Only comparisons of this experiment, as the candidate or the baseline.')),
  verdict: Type.Optional(oneOf(VERDICTS, 'Only comparisons with this verdict.')),
  ...page({ maxLimit: 200, defaultLimit: 50 }),
});

function listComparisonsRoute(comparisons: ComparisonService) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/comparisons',
    operationId: 'listComparisons',
    summary: 'List comparisons',
    description: 'Lists comparisons, newest first, without what they found of metrics.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: queryOf(ListQuery),
    responses: {
      200: {
        ...listOf(ListedComparisonRead, 'The comparisons.'),
        headers: { 'X-Total-Count': 'Number of all matches.' },
      },
    },
    errors: ['unavailable'],
    handle({ params, query: { experiment_id, verdict, ...window } }) {
      const filter = { experimentId: experiment_id?.toLowerCase() ?? null, verdict: verdict ?? null };
      const { comparisons: found, total } = comparisons.list(params.project_id, filter, window);
      return { status: 200, body: found.map(toListedRead), headers: { 'X-Total-Count': String(total) } };
    },
  });
}

function getComparisonRoute(comparisons: ComparisonService) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/comparisons/:comparison_id',
    operationId: 'getComparison',
    summary: 'Get a comparison',
    description: `Returns what the comparison found when it was made. ${FORMATS}`,
    tag: TAG,
    access: 'key',
    params: ComparisonParams,
    responses: { 200: { description: 'The comparison.', schema: ComparisonRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params, headers }) => ({
      status: 200,
      ...rendered(comparisons.get(params.project_id, params.comparison_id), headers),
    }),
  });
}

const RowsQuery = Type.Object({
  metric: Type.String({ minLength: 1, maxLength: 200, description: 'Name of a metric of the comparison.' }),
  outcome: oneOf(
    ROW_OUTCOMES,
    'Rows where the candidate is better (`win`), worse (`loss`; of categories, where it moved) or equal (`tie`), with an error in either experiment, or that are left out.',
    'loss',
  ),
  ...page({ maxLimit: 100, defaultLimit: 20 }),
});

function listComparedRowsRoute(comparisons: ComparisonService) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/comparisons/:comparison_id/rows',
    operationId: 'listComparedRows',
    summary: 'List rows of a comparison',
    description:
      'Lists rows by what became of them in a metric, those that changed most first, with both outputs and traces. They are read again: scores since the comparison count.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ComparisonParams,
    query: queryOf(RowsQuery),
    responses: {
      200: { ...listOf(ComparedRow, 'The rows.'), headers: { 'X-Total-Count': 'Number of all such rows.' } },
    },
    errors: ['not_found', 'overloaded', 'too_large', 'unavailable'],
    async handle({ params, query, signal }) {
      const { project_id: projectId, comparison_id: id } = params;
      const { rows, total, roles } = await comparisons.rows(projectId, id, query, signal);
      const body = rows.map((row) => toRowRead(row, roles));
      return { status: 200, body, headers: { 'X-Total-Count': String(total) } };
    },
  });
}

function deleteComparisonRoute(comparisons: ComparisonService) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/comparisons/:comparison_id',
    operationId: 'deleteComparison',
    summary: 'Delete a comparison',
    description: 'Deletes a comparison; its experiments stay.',
    tag: TAG,
    access: 'key',
    params: ComparisonParams,
    responses: { 204: { description: 'It is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ params }) {
      comparisons.remove(params.project_id, params.comparison_id);
      return { status: 204 };
    },
  });
}

const TYPES = ['application/json', 'text/markdown', 'application/xml'];

/** The comparison as the client accepts it. */
function rendered(comparison: Comparison, headers: IncomingHttpHeaders, more: Readonly<Record<string, string>> = {}) {
  const known = { headers: { Vary: 'Accept', ...more } };
  const type = new Negotiator({ headers }).mediaType(TYPES);
  if (type === 'text/markdown')
    return { ...known, content: toMarkdown(comparison), contentType: 'text/markdown; charset=utf-8' };
  if (type === 'application/xml')
    return { ...known, content: toJUnit(comparison), contentType: 'application/xml; charset=utf-8' };
  return { ...known, body: toComparisonRead(comparison) };
}
