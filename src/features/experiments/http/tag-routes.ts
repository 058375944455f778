import { formatTimestamp } from '../../../engine/timestamp.js';
import { pageOfThousand } from '../../../http/parameters.js';
import { defineRoute, listOf } from '../../../http/route.js';
import type { ExperimentService } from '../experiment-service.js';
import { ExperimentTagMoveRead, ExperimentTagRead } from '../schema.js';
import { ExperimentTagParams, TAG } from './parameters.js';

/** Tags of the experiments of a dataset, and where they pointed. */
export function tagRoutes(experiments: ExperimentService) {
  return [pinTagRoute(experiments), deleteTagRoute(experiments), listTagHistoryRoute(experiments)];
}

function pinTagRoute(experiments: Pick<ExperimentService, 'pin'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/experiments/:experiment_id/tags/:tag:pin',
    operationId: 'pinExperimentTag',
    summary: 'Pin a tag to an experiment',
    description:
      'From now on, the tag points to this experiment, and to no other one of the same dataset: `baseline`, for instance. The history ' +
      'of the tag keeps every move.',
    tag: TAG,
    access: 'key',
    params: ExperimentTagParams,
    responses: { 200: { description: 'The tag and the experiment that it points to.', schema: ExperimentTagRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params: { experiment_id, tag } }) {
      const { dataset } = experiments.pin(principal, experiment_id, tag);
      return { status: 200, body: { tag, experiment_id, dataset_id: dataset.id } };
    },
  });
}

function deleteTagRoute(experiments: Pick<ExperimentService, 'removeTag'>) {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/experiments/:experiment_id/tags/:tag',
    operationId: 'deleteExperimentTag',
    summary: 'Remove a tag of an experiment',
    description: 'From now on, the tag points to nothing. Its history stays, with the removal as an entry.',
    tag: TAG,
    access: 'key',
    params: ExperimentTagParams,
    responses: { 204: { description: 'The tag is removed.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params: { experiment_id, tag } }) {
      experiments.removeTag(principal, experiment_id, tag);
      return { status: 204 };
    },
  });
}

function listTagHistoryRoute(experiments: Pick<ExperimentService, 'tagHistory'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/experiments/:experiment_id/tags/:tag/history',
    operationId: 'listExperimentTagHistory',
    summary: 'List the history of a tag of experiments',
    description:
      "Returns every move of the tag among the experiments of this experiment's dataset, newest first. A removal has null as the experiment.",
    tag: TAG,
    access: 'key',
    params: ExperimentTagParams,
    query: pageOfThousand,
    responses: { 200: listOf(ExperimentTagMoveRead, 'The moves.') },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params: { experiment_id, tag }, query }) => ({
      status: 200,
      body: experiments
        .tagHistory(principal.project_id, experiment_id, tag, query)
        .map(({ target, at, by }) => ({ experiment: target, at: formatTimestamp(at), by })),
    }),
  });
}
