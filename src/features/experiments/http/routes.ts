import { Type, type Static } from '@sinclair/typebox';
import { oneOf } from '../../../engine/schema/parts.js';
import { TagName } from '../../../engine/schema/tag.js';
import { page } from '../../../http/page.js';
import { ProjectParams } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import { STATUSES, type ExperimentFilter } from '../experiment.js';
import type { EvalService } from '../eval-service.js';
import type { ResultFigures } from '../../judges/result-figures.js';
import type { ScorerService } from '../scorer-service.js';
import type { ExperimentService } from '../experiment-service.js';
import { ExperimentInput, ExperimentPage, ExperimentPatchInput, ExperimentRead } from '../schema.js';
import { evalRoutes } from './eval-routes.js';
import { ExperimentParams, TAG } from './parameters.js';
import { toExperimentRead } from './presenters.js';
import { resultRoutes, type ResultServices } from './result-routes.js';
import { tagRoutes } from './tag-routes.js';

export interface ExperimentServices extends ResultServices {
  readonly evals: EvalService;
  readonly scorers: ScorerService;
  readonly resultFigures: ResultFigures;
}

/** Experiments, their results and tags. */
export function experimentRoutes(services: ExperimentServices) {
  const { experiments } = services;
  return [
    createExperimentRoute(experiments),
    listExperimentsRoute(experiments),
    endRoute(experiments, {
      path: '/projects/:project_id/experiments/:experiment_id:finish',
      operationId: 'finishExperiment',
      summary: 'Finish an experiment',
      description:
        'From now on, the experiment takes no results (409); scores of its results are still stored. Finishing it again changes nothing. Returns 409 if it was canceled.',
      status: 'finished',
    }),
    endRoute(experiments, {
      path: '/projects/:project_id/experiments/:experiment_id:cancel',
      operationId: 'cancelExperiment',
      summary: 'Cancel an experiment',
      description:
        'From now on, the experiment takes no results (409). Those that it has stay. Canceling it again changes nothing. Returns 409 if it was finished.',
      status: 'canceled',
    }),
    getExperimentRoute(services),
    updateExperimentRoute(experiments),
    deleteExperimentRoute(experiments),
    ...resultRoutes(services),
    ...tagRoutes(experiments),
    ...evalRoutes(services),
  ];
}

const measured = { 200: { description: 'The experiment.', schema: ExperimentRead } };

function createExperimentRoute(experiments: ExperimentService) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/experiments',
    operationId: 'createExperiment',
    summary: 'Create an experiment',
    description:
      'Creates an experiment that tries one subject on one version of a dataset. It takes results until it is finished or canceled.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: jsonBody(ExperimentInput),
    responses: { 201: { description: 'The experiment.', schema: ExperimentRead } },
    errors: ['not_found', 'conflict', 'invalid', 'unavailable'],
    handle: ({ principal, body }) => ({
      status: 201,
      body: toExperimentRead({ experiment: experiments.create(principal, body), figures: null, run: null }),
    }),
  });
}

const text = (description: string, maxLength = 1_000) =>
  Type.Optional(Type.String({ minLength: 1, maxLength, description }));
const ListQuery = Type.Object({
  q: text('Only experiments whose name contains this text, whatever its case.', 200),
  name: text('Only experiments with exactly this name.', 200),
  dataset: text('Only experiments on this dataset, by its name or id.', 200),
  status: Type.Optional(oneOf(STATUSES, 'Only experiments with this status.')),
  tag: Type.Optional(Type.String({ ...TagName, description: 'Only experiments to which this tag points.' })),
  commit: text('Only experiments whose subject has this `commit`.'),
  branch: text('Only experiments whose subject has this `branch`.'),
  prompt: text('Only experiments whose subject has this `prompt_slug`.'),
  ...page({ maxLimit: 200, defaultLimit: 50 }),
});

function filterOf(query: Omit<Static<typeof ListQuery>, 'limit' | 'offset'>): ExperimentFilter {
  const { q = null, name = null, dataset = null, status = null, tag = null } = query;
  const { commit = null, branch = null, prompt = null } = query;
  return { q, name, dataset, status, tag, commit, branch, prompt, phase: null };
}

function listExperimentsRoute(experiments: ExperimentService) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/experiments',
    operationId: 'listExperiments',
    summary: 'List experiments',
    description: 'Lists experiments, newest first, each with figures of its results.',
    tag: TAG,
    access: 'key',
    bulk: true,
    params: ProjectParams,
    query: queryOf(ListQuery),
    responses: { 200: { description: 'The page.', schema: ExperimentPage } },
    errors: ['unavailable'],
    async handle({ principal, query: { limit, offset, ...query }, signal }) {
      const window = { limit, offset };
      const found = await experiments.list(principal.project_id, filterOf(query), window, signal);
      return {
        status: 200,
        body: { experiments: found.experiments.map(toExperimentRead), total: found.total, ...window },
      };
    },
  });
}

function getExperimentRoute({ experiments, resultFigures }: ExperimentServices) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/experiments/:experiment_id',
    operationId: 'getExperiment',
    summary: 'Get an experiment',
    description: 'Returns an experiment with figures of its results, and what judges found of them.',
    tag: TAG,
    access: 'key',
    params: ExperimentParams,
    responses: measured,
    errors: ['not_found', 'unavailable'],
    async handle({ principal: { project_id }, params: { experiment_id }, signal }) {
      const experiment = toExperimentRead(await experiments.get(project_id, experiment_id, signal));
      return {
        status: 200,
        body: { ...experiment, judges: await resultFigures.of(project_id, experiment_id, signal) },
      };
    },
  });
}

function updateExperimentRoute(experiments: ExperimentService) {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/experiments/:experiment_id',
    operationId: 'updateExperiment',
    summary: 'Update an experiment',
    description:
      'Renames an experiment, or changes what is said of it. Its repetitions can change until it is finished or canceled (409).',
    tag: TAG,
    access: 'key',
    params: ExperimentParams,
    body: jsonBody(ExperimentPatchInput),
    responses: measured,
    errors: ['not_found', 'conflict', 'invalid', 'unavailable'],
    async handle({ principal: { project_id }, params: { experiment_id }, body, signal }) {
      experiments.change(project_id, experiment_id, body);
      return { status: 200, body: toExperimentRead(await experiments.get(project_id, experiment_id, signal)) };
    },
  });
}

interface Ending {
  readonly path:
    | '/projects/:project_id/experiments/:experiment_id:finish'
    | '/projects/:project_id/experiments/:experiment_id:cancel';
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly status: 'finished' | 'canceled';
}

function endRoute(experiments: ExperimentService, { status, ...ending }: Ending) {
  return defineRoute({
    ...ending,
    method: 'POST',
    tag: TAG,
    access: 'key',
    params: ExperimentParams,
    responses: measured,
    errors: ['not_found', 'conflict', 'unavailable'],
    async handle({ principal: { project_id }, params: { experiment_id }, signal }) {
      experiments.end(project_id, experiment_id, status);
      return { status: 200, body: toExperimentRead(await experiments.get(project_id, experiment_id, signal)) };
    },
  });
}

function deleteExperimentRoute(experiments: ExperimentService) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/experiments/:experiment_id',
    operationId: 'deleteExperiment',
    summary: 'Delete an experiment',
    description:
      'Deletes an experiment with its comparisons and its results: their spans, with all scores and feedback. The traces in which they ' +
      'were made stay. ' +
      'If there are many results, they are deleted after the response.',
    tag: TAG,
    access: 'key',
    params: ExperimentParams,
    responses: { 204: { description: 'The experiment is deleted.' } },
    errors: ['not_found', 'unavailable'],
    async handle({ principal, params }) {
      await experiments.remove(principal, params.experiment_id);
      return { status: 204 };
    },
  });
}
