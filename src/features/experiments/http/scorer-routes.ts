import { Type } from '@sinclair/typebox';
import { uuid } from '../../../engine/schema/parts.js';
import { page } from '../../../http/page.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import {
  ColumnMetricInput,
  MetricRead,
  OutputFormats,
  RunMetricInput,
  ScorerInput,
  ScorerRead,
  ScorerScoreRead,
  ScorerScores,
  StoredScore,
} from '../eval-schema.js';
import type { ScorerService } from '../scorer-service.js';
import { toMetricRead, toScorerRead } from './eval-presenters.js';
import { TAG } from './parameters.js';

/** What the Python SDK says of results: by scorers, and figures that it computes. */
export function scorerRoutes(scorers: ScorerService) {
  return [
    ensureScorerRoute(scorers),
    listScorersRoute(scorers),
    setFormatsRoute(scorers),
    deleteScorerRoute(scorers),
    postScoresRoute(scorers),
    listScoresRoute(scorers),
    postColumnMetricRoute(scorers),
    postRunMetricRoute(scorers),
  ];
}

const eval_id = uuid('Id of the experiment.');
const EvalParams = Type.Object({ eval_id });
const ScorerParams = Type.Object({ eval_id, scorer_id: uuid('Id of the scorer.') });

function ensureScorerRoute(scorers: ScorerService) {
  return defineRoute({
    method: 'POST',
    path: '/v1/evals/:eval_id/scorers',
    operationId: 'ensureEvalScorer',
    summary: 'Create a scorer (Python SDK)',
    description:
      'Creates a scorer, unless the experiment has one with this name and mode. Returns the one that it has.',
    tag: TAG,
    access: 'key',
    params: EvalParams,
    body: jsonBody(ScorerInput, { lenient: true }),
    responses: { 200: { description: 'The scorer.', schema: ScorerRead } },
    errors: ['not_found', 'conflict', 'invalid', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: toScorerRead(scorers.ensure(principal.project_id, params.eval_id, body)),
    }),
  });
}

function listScorersRoute(scorers: ScorerService) {
  return defineRoute({
    method: 'GET',
    path: '/v1/evals/:eval_id/scorers',
    operationId: 'listEvalScorers',
    summary: 'List scorers (Python SDK)',
    description: 'Lists the scorers of an experiment by name.',
    tag: TAG,
    access: 'key',
    params: EvalParams,
    responses: { 200: listOf(ScorerRead, 'The scorers.') },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params }) => ({
      status: 200,
      body: scorers.list(principal.project_id, params.eval_id).map(toScorerRead),
    }),
  });
}

function setFormatsRoute(scorers: ScorerService) {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/evals/:eval_id/scorers/:scorer_id/output-formats',
    operationId: 'updateEvalScorerFormats',
    summary: 'Update output formats of a scorer (Python SDK)',
    description: 'Sets how the scores of a scorer are shown.',
    tag: TAG,
    access: 'key',
    params: ScorerParams,
    body: jsonBody(OutputFormats, { lenient: true }),
    responses: { 200: { description: 'The scorer.', schema: ScorerRead } },
    errors: ['not_found', 'invalid', 'unavailable'],
    handle: ({ principal, params, body: { output_formats } }) => ({
      status: 200,
      body: toScorerRead(scorers.setFormats(principal.project_id, params.eval_id, params.scorer_id, output_formats)),
    }),
  });
}

function deleteScorerRoute(scorers: ScorerService) {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/evals/:eval_id/scorers/:scorer_id',
    operationId: 'deleteEvalScorer',
    summary: 'Delete a scorer',
    description:
      'Deletes a scorer with what it found: the scores of results that have the source `code` and its name as the author, and the ' +
      'figures of the whole run under its name. Scores stay while another scorer of the experiment has the same name.',
    tag: TAG,
    access: 'key',
    params: ScorerParams,
    responses: { 204: { description: 'It is deleted.' } },
    errors: ['not_found', 'overloaded', 'unavailable'],
    async handle({ principal, params: { eval_id: id, scorer_id } }) {
      await scorers.remove(principal.project_id, id, scorer_id);
      return { status: 204 };
    },
  });
}

function postScoresRoute(scorers: ScorerService) {
  return defineRoute({
    method: 'POST',
    path: '/v1/evals/:eval_id/scorers/:scorer_id/scores',
    operationId: 'postEvalScores',
    summary: 'Store scores of a scorer (Python SDK)',
    description:
      'Stores what a scorer found of results as scores of their spans, with the source `code` and the scorer as the author. Of an ' +
      'object, each member becomes a score; null becomes none.',
    tag: TAG,
    access: 'key',
    params: ScorerParams,
    body: jsonBody(ScorerScores, { lenient: true }),
    responses: { 200: listOf(StoredScore, 'What became of each, in the order of the request.') },
    errors: ['not_found', 'invalid', 'overloaded', 'unavailable'],
    handle: async ({ principal, params: { eval_id: id, scorer_id }, body }) => ({
      status: 200,
      body: await scorers.post(principal, id, scorer_id, body),
    }),
  });
}

const ScoresQuery = Type.Object(page({ maxLimit: 5_000, defaultLimit: 100 }));

function listScoresRoute(scorers: ScorerService) {
  return defineRoute({
    method: 'GET',
    path: '/v1/evals/:eval_id/scorers/:scorer_id/scores',
    operationId: 'listEvalScores',
    summary: 'List scores of a scorer (Python SDK)',
    description: 'Lists results that have a score by one of the names that the scorer gives, with these scores.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ScorerParams,
    query: queryOf(ScoresQuery),
    responses: { 200: listOf(ScorerScoreRead, 'The scores.') },
    errors: ['not_found', 'unavailable'],
    handle: async ({ principal, params: { eval_id: id, scorer_id }, query, signal }) => ({
      status: 200,
      body: await scorers.scored(principal.project_id, id, scorer_id, query, signal),
    }),
  });
}

const metric = { 200: { description: 'The figures.', schema: MetricRead } };

function postColumnMetricRoute(scorers: ScorerService) {
  return defineRoute({
    method: 'POST',
    path: '/v1/evals/:eval_id/column-metrics',
    operationId: 'postEvalColumnMetric',
    summary: 'Store figures of a repetition (Python SDK)',
    description:
      'Keeps figures of all results of a repetition, as the client computed them. Those of the same name are replaced.',
    tag: TAG,
    access: 'key',
    params: EvalParams,
    body: jsonBody(ColumnMetricInput, { lenient: true }),
    responses: metric,
    errors: ['not_found', 'conflict', 'invalid', 'unavailable'],
    handle({ principal, params, body: { metric_name: name, run_number, repetition_number, results, output_formats } }) {
      const repetition = run_number ?? repetition_number ?? 1;
      const stated = { scope: 'column', name, repetition, results, output_formats: output_formats ?? {} } as const;
      return { status: 200, body: toMetricRead(scorers.keep(principal.project_id, params.eval_id, stated)) };
    },
  });
}

function postRunMetricRoute(scorers: ScorerService) {
  return defineRoute({
    method: 'POST',
    path: '/v1/evals/:eval_id/eval-metrics',
    operationId: 'postEvalMetric',
    summary: 'Store figures of all repetitions (Python SDK)',
    description: 'Keeps figures of all repetitions, as the client computed them. Those of the same name are replaced.',
    tag: TAG,
    access: 'key',
    params: EvalParams,
    body: jsonBody(RunMetricInput, { lenient: true }),
    responses: metric,
    errors: ['not_found', 'conflict', 'invalid', 'unavailable'],
    handle({ principal, params, body: { metric_name: name, results, output_formats } }) {
      const stated = { scope: 'run', name, repetition: 0, results, output_formats: output_formats ?? {} } as const;
      return { status: 200, body: toMetricRead(scorers.keep(principal.project_id, params.eval_id, stated)) };
    },
  });
}
