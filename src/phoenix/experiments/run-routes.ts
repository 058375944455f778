import { Type } from '@sinclair/typebox';
import { DomainError } from '../../engine/errors.js';
import { uuid } from '../../engine/schema/parts.js';
import { invalid } from '../../engine/validation/validation.js';
import { inSentNames } from '../../facade/sent-names.js';
import type { DatasetService } from '../../features/datasets/dataset-service.js';
import type { Experiment } from '../../features/experiments/experiment.js';
import type { ExperimentService } from '../../features/experiments/experiment-service.js';
import type { GivenResult } from '../../features/experiments/given-result.js';
import { placeOf, type ResultIntake } from '../../features/experiments/result-intake.js';
import { queryOf } from '../../http/query.js';
import { defineRoute, jsonBody } from '../../http/route.js';
import { cursor, limit, nextCursor, offsetAt } from '../cursor.js';
import { BASE, TAG } from '../tag.js';
import { ExperimentParams } from './experiment-routes.js';
import { givenResult, RunInput, RunRead, toRun } from './runs.js';

export interface PhoenixRuns {
  readonly experiments: Pick<ExperimentService, 'find' | 'results'>;
  readonly datasets: Pick<DatasetService, 'rowSizes'>;
  readonly resultIntake: Pick<ResultIntake, 'store'>;
}

/** Results of experiments, as clients of Phoenix send and read them. */
export function runRoutes(services: PhoenixRuns) {
  return [postRoute(services), listRoute(services)];
}

const Stored = Type.Object(
  { data: Type.Object({ id: uuid('Id of the result.') }, { description: 'The result.' }) },
  { $id: 'PhoenixStoredRun', description: 'A result that is stored.' },
);

function postRoute({ experiments, datasets, resultIntake }: PhoenixRuns) {
  return defineRoute({
    method: 'POST',
    path: `${BASE}/v1/experiments/:experiment_id/runs`,
    operationId: 'postPhoenixRun',
    scopes: ['datasets:write'],
    summary: 'Store a result of an experiment (Phoenix)',
    description: 'Stores the result of an example. It replaces the earlier one of the same repetition.',
    tag: TAG,
    access: 'key',
    params: ExperimentParams,
    body: jsonBody(RunInput, { lenient: true }),
    responses: { 200: { description: 'The result is stored.', schema: Stored } },
    errors: ['invalid', 'not_found', 'conflict', 'too_large', 'overloaded', 'unavailable'],
    async handle({ principal: { project_id: projectId }, params, body }) {
      const experiment = experiments.find(projectId, params.experiment_id);
      // Clients try again what failed, also where somebody has finished the experiment meanwhile.
      if (experiment.status === 'canceled') throw new DomainError('conflict', 'The experiment is canceled');
      const result = givenResult(body);
      requireKnown(experiment, result, datasets);
      const [stored] = await inSentNames(() => resultIntake.store(projectId, experiment, [result]), nameOf);
      if (stored === undefined) throw new Error('A result that was stored is not there');
      return { status: 200, body: { data: { id: stored.id } } };
    },
  });
}

/** @throws DomainError `invalid` */
function requireKnown(
  experiment: Experiment,
  { row_id, repetition }: GivenResult,
  datasets: PhoenixRuns['datasets'],
): void {
  if (!datasets.rowSizes(placeOf(experiment), [row_id]).has(row_id))
    throw invalid([{ pointer: '/dataset_example_id', detail: 'is no example of the version of the experiment' }]);
  if (repetition > experiment.repetitions)
    throw invalid([
      { pointer: '/repetition_number', detail: `must be at most ${experiment.repetitions}, those of the experiment` },
    ]);
}

/** What is wrong with the span of a result is wrong with what was sent. */
const nameOf = (pointer: string) => (pointer.endsWith('/output_data') ? '/output' : '');

const RunPage = Type.Object(
  {
    data: Type.Array(RunRead, { description: 'A page of results, by example and repetition.' }),
    next_cursor: nextCursor,
  },
  { $id: 'PhoenixRuns', description: 'A page of results.' },
);

function listRoute({ experiments }: PhoenixRuns) {
  return defineRoute({
    method: 'GET',
    path: `${BASE}/v1/experiments/:experiment_id/runs`,
    operationId: 'listPhoenixRuns',
    scopes: ['datasets:read'],
    summary: 'List results of an experiment (Phoenix)',
    description: 'Lists results by example and repetition. Without `limit`, up to 1,000.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ExperimentParams,
    query: queryOf(Type.Object({ limit: { ...limit('results'), default: 1_000 }, cursor })),
    responses: { 200: { description: 'The results.', schema: RunPage } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal: { project_id }, params: { experiment_id }, query, signal }) {
      const window = { limit: query.limit, offset: offsetAt(query.cursor), count: false };
      const asked = { experimentId: experiment_id, repetition: null, rowIds: null, hasError: null, ...window };
      const { results, next } = await experiments.results(project_id, asked, signal);
      const data = results.map((result) => toRun(experiment_id, result));
      return { status: 200, body: { data, next_cursor: next === null ? null : String(next) } };
    },
  });
}
