import { Type } from '@sinclair/typebox';
import { page } from '../../../http/page.js';
import { csv } from '../../../http/parameter.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, uncheckedJsonBody } from '../../../http/route.js';
import { MAX_REPETITIONS, MAX_RESULTS_AT_ONCE } from '../experiment.js';
import type { ExperimentService } from '../experiment-service.js';
import { MISSING_AFTER, type MissingResults } from '../missing-results.js';
import type { ResultIntake } from '../result-intake.js';
import type { ResultRows } from '../result-rows.js';
import { MissingPage, ResultInput, ResultPage, RowId, StoredResultRead } from '../schema.js';
import { ExperimentParams, TAG } from './parameters.js';
import { toResultRead } from './presenters.js';

export interface ResultServices {
  readonly experiments: ExperimentService;
  readonly resultIntake: ResultIntake;
  readonly missingResults: MissingResults;
  readonly resultRows: ResultRows;
}

/** Results of experiments. */
export function resultRoutes(services: ResultServices) {
  return [postResultsRoute(services), listResultsRoute(services), listMissingRoute(services)];
}

const ResultsInput = Type.Union([Type.Array(ResultInput, { maxItems: MAX_RESULTS_AT_ONCE }), ResultInput], {
  description: `A result, or an array of up to ${MAX_RESULTS_AT_ONCE}.`,
});

function postResultsRoute({ experiments, resultIntake }: ResultServices) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/experiments/:experiment_id/results',
    operationId: 'postExperimentResults',
    summary: 'Store results of an experiment',
    description:
      'Stores one result or an array of results, all or none. A result of the same row and repetition replaces the earlier one, so a ' +
      'retry changes nothing. A result is stored as a span of the kind `experiment`, whose id it has: scores, feedback and judges can ' +
      'be about it as about any span. Returns 409 if the experiment was finished or canceled, or its dataset was deleted.',
    tag: TAG,
    access: 'key',
    params: ExperimentParams,
    body: uncheckedJsonBody(ResultsInput),
    responses: {
      200: { description: 'The results, in the order of the request.', schema: Type.Array(StoredResultRead) },
    },
    errors: ['not_found', 'conflict', 'too_large', 'invalid', 'overloaded', 'unavailable'],
    async handle({ principal: { project_id }, params: { experiment_id }, body }) {
      const experiment = experiments.find(project_id, experiment_id);
      return { status: 200, body: await resultIntake.post(project_id, experiment, body) };
    },
  });
}

const ResultsQuery = Type.Object({
  row_id: Type.Optional(
    csv(RowId, { description: 'Only results of these rows, by id, separated by commas.', maxItems: 200 }),
  ),
  repetition: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_REPETITIONS, description: 'Only results of this repetition.' }),
  ),
  has_error: Type.Optional(Type.Boolean({ description: 'Only results with an error, or without.' })),
  rows: Type.Optional(
    Type.Boolean({ description: 'Whether each result has `row`: how what its row says begins. Default: false.' }),
  ),
  ...page({ maxLimit: 1_000, defaultLimit: 100 }),
});

function listResultsRoute({ experiments, resultRows }: ResultServices) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/experiments/:experiment_id/results',
    operationId: 'listExperimentResults',
    summary: 'List results of an experiment',
    description:
      'Lists results by row and repetition, each with its newest scores, and with the cost, tokens and duration of the trace in which ' +
      'it was made.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ExperimentParams,
    query: queryOf(ResultsQuery),
    responses: { 200: { description: 'The page.', schema: ResultPage } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params: { experiment_id: experimentId }, query, signal }) {
      const { row_id: rowIds = null, repetition = null, has_error: hasError = null, rows, limit, offset } = query;
      const asked = { experimentId, rowIds, repetition, hasError, limit, offset, count: true };
      const { results, total, next } = await experiments.results(principal.project_id, asked, signal);
      const beginnings =
        rows !== true
          ? undefined
          : resultRows.beginnings(
              principal.project_id,
              experiments.find(principal.project_id, experimentId),
              results.map(({ row_id }) => row_id),
            );
      const body = results.map((result) => toResultRead(result, beginnings));
      return { status: 200, body: { results: body, total: total ?? 0, limit, offset, next_offset: next } };
    },
  });
}

const MissingQuery = Type.Object({
  after: Type.Optional(
    Type.String({
      pattern: MISSING_AFTER,
      description: 'Where to continue: `next` of the previous page; absent: at the beginning.',
    }),
  ),
  ...page({ maxLimit: 10_000, defaultLimit: 1_000 }),
});

function listMissingRoute({ experiments, missingResults }: ResultServices) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/experiments/:experiment_id/missing',
    operationId: 'listMissingExperimentResults',
    summary: 'List missing results of an experiment',
    description:
      'Lists rows and repetitions that have no result, in the order of the dataset, so that an interrupted run can go on. To walk ' +
      'through many, use `next`: with `offset`, each page counts all of them again. Of a dataset that was deleted, none are known.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ExperimentParams,
    query: queryOf(MissingQuery),
    responses: { 200: { description: 'The page.', schema: MissingPage } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal: { project_id }, params: { experiment_id }, query, signal }) {
      const experiment = experiments.find(project_id, experiment_id);
      const { after, limit, offset } = query;
      const found =
        after === undefined
          ? await missingResults.page(project_id, experiment, { limit, offset }, signal)
          : await missingResults.behind(project_id, experiment, after, { limit, offset }, signal);
      return { status: 200, body: { ...found, limit, offset } };
    },
  });
}
