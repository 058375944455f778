import { Type } from '@sinclair/typebox';
import { oneOf, uuid } from '../../../engine/schema/parts.js';
import { page } from '../../../http/page.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import type { EvalService } from '../eval-service.js';
import { NEXT_OFFSET } from '../schema.js';
import {
  EVAL_STATUSES,
  EvalInput,
  EvalPatch,
  EvalRead,
  EvalResultRead,
  EvalResults,
  EvalStoredResult,
  EvalSummary,
} from '../eval-schema.js';
import { MAX_REPETITIONS } from '../experiment.js';
import type { ExperimentService } from '../experiment-service.js';
import type { ScorerService } from '../scorer-service.js';
import { toEvalRead, toEvalResult, toEvalSummary } from './eval-presenters.js';
import { TAG } from './parameters.js';
import { scorerRoutes } from './scorer-routes.js';

export interface EvalServices {
  readonly experiments: ExperimentService;
  readonly evals: EvalService;
  readonly scorers: ScorerService;
}

/** Experiments as the Python SDK sends and reads them. */
export function evalRoutes(services: EvalServices) {
  return [
    createEvalRoute(services),
    listEvalsRoute(services),
    getSummaryRoute(services),
    postResultsRoute(services),
    listResultsRoute(services),
    ...scorerRoutes(services.scorers),
    getEvalRoute(services),
    updateEvalRoute(services),
  ];
}

const EvalParams = Type.Object({ eval_id: uuid('Id of the experiment.') });
const found = { 200: { description: 'The experiment.', schema: EvalRead } };

function createEvalRoute({ evals }: EvalServices) {
  return defineRoute({
    method: 'POST',
    path: '/v1/evals',
    operationId: 'createEval',
    summary: 'Create an experiment (Python SDK)',
    description: 'Creates an experiment, as the Python SDK does for `Dataset.eval`.',
    tag: TAG,
    access: 'key',
    body: jsonBody(EvalInput, { lenient: true }),
    responses: { 201: { description: 'The experiment.', schema: EvalRead } },
    errors: ['not_found', 'conflict', 'invalid', 'unavailable'],
    handle: ({ principal, body }) => ({
      status: 201,
      body: toEvalRead(evals.create(principal, body), principal.project_id),
    }),
  });
}

const ListQuery = Type.Object({
  dataset_id: Type.Optional(uuid('Only experiments on this dataset.')),
  status: Type.Optional(oneOf(EVAL_STATUSES, 'Only experiments with this status.')),
  ...page({ maxLimit: 200, defaultLimit: 50 }),
});

function listEvalsRoute({ evals }: EvalServices) {
  return defineRoute({
    method: 'GET',
    path: '/v1/evals',
    operationId: 'listEvals',
    summary: 'List experiments (Python SDK)',
    description: "Lists experiments of the key's project, newest first.",
    tag: TAG,
    access: 'key',
    bulk: true,
    query: queryOf(ListQuery),
    responses: { 200: listOf(EvalRead, 'The experiments.') },
    errors: ['unavailable'],
    async handle({ principal: { project_id }, query, signal }) {
      const { dataset_id: datasetId = null, status = null, limit, offset } = query;
      const experiments = await evals.list(project_id, { datasetId, status }, { limit, offset }, signal);
      return { status: 200, body: experiments.map((experiment) => toEvalRead(experiment, project_id)) };
    },
  });
}

function getEvalRoute({ experiments }: EvalServices) {
  return defineRoute({
    method: 'GET',
    path: '/v1/evals/:eval_id',
    operationId: 'getEval',
    summary: 'Get an experiment (Python SDK)',
    description: 'Returns an experiment.',
    tag: TAG,
    access: 'key',
    params: EvalParams,
    responses: found,
    errors: ['not_found', 'unavailable'],
    handle: ({ principal: { project_id }, params: { eval_id } }) => ({
      status: 200,
      body: toEvalRead(experiments.find(project_id, eval_id), project_id),
    }),
  });
}

function getSummaryRoute({ experiments, scorers }: EvalServices) {
  return defineRoute({
    method: 'GET',
    path: '/v1/evals/:eval_id/summary',
    operationId: 'getEvalSummary',
    summary: 'Get an experiment with its figures (Python SDK)',
    description:
      'Returns an experiment with the figures of its results, and with those that the client computed itself: its column and run metrics.',
    tag: TAG,
    access: 'key',
    params: EvalParams,
    responses: { 200: { description: 'The experiment.', schema: EvalSummary } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal: { project_id }, params: { eval_id }, signal }) {
      const measured = await experiments.get(project_id, eval_id, signal);
      return { status: 200, body: toEvalSummary(measured, project_id, scorers.metrics(project_id, eval_id)) };
    },
  });
}

function updateEvalRoute({ evals }: EvalServices) {
  return defineRoute({
    method: 'PATCH',
    path: '/v1/evals/:eval_id',
    operationId: 'updateEval',
    summary: 'Update an experiment (Python SDK)',
    description:
      'Sets status, repetitions or description. Unlike `PATCH /projects/{project_id}/experiments/{experiment_id}`, it lets a finished ' +
      'experiment go on.',
    tag: TAG,
    access: 'key',
    params: EvalParams,
    body: jsonBody(EvalPatch, { lenient: true }),
    responses: found,
    errors: ['not_found', 'conflict', 'invalid', 'unavailable'],
    handle: ({ principal: { project_id }, params: { eval_id }, body }) => ({
      status: 200,
      body: toEvalRead(evals.change(project_id, eval_id, body), project_id),
    }),
  });
}

function postResultsRoute({ evals }: EvalServices) {
  return defineRoute({
    method: 'POST',
    path: '/v1/evals/:eval_id/results',
    operationId: 'postEvalResults',
    summary: 'Store results (Python SDK)',
    description:
      'Stores results, also of a finished experiment, as the SDK sends them again before it scores them. A result of the same row and ' +
      'repetition replaces the earlier one. Returns 409 if the experiment was canceled.',
    tag: TAG,
    access: 'key',
    params: EvalParams,
    body: jsonBody(EvalResults, { lenient: true }),
    responses: { 200: listOf(EvalStoredResult, 'The results, in the order of the request.') },
    errors: ['not_found', 'conflict', 'too_large', 'invalid', 'overloaded', 'unavailable'],
    handle: async ({ principal, params, body }) => ({
      status: 200,
      body: await evals.post(principal.project_id, params.eval_id, body),
    }),
  });
}

const ResultsQuery = Type.Object({
  repetition: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_REPETITIONS, description: 'Only results of this repetition.' }),
  ),
  ...page({ maxLimit: 10_000, defaultLimit: 100 }),
});

function listResultsRoute({ experiments }: EvalServices) {
  return defineRoute({
    method: 'GET',
    path: '/v1/evals/:eval_id/results',
    operationId: 'listEvalResults',
    summary: 'List results (Python SDK)',
    description: 'Lists results by row and repetition.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: EvalParams,
    query: queryOf(ResultsQuery),
    responses: {
      200: {
        ...listOf(EvalResultRead, 'The results.'),
        headers: { 'X-Next-Offset': `${NEXT_OFFSET} Absent: this is the last one.` },
      },
    },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params: { eval_id }, query: { repetition = null, ...window }, signal }) {
      const asked = { ...window, repetition, experimentId: eval_id, rowIds: null, hasError: null, count: false };
      const { results, next } = await experiments.results(principal.project_id, asked, signal);
      const headers = next === null ? {} : { 'X-Next-Offset': String(next) };
      return { status: 200, body: results.map(toEvalResult), headers };
    },
  });
}
