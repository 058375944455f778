import { Type } from '@sinclair/typebox';
import type { CompletionLists } from '../completion-lists.js';
import { Slug } from '../../prompts/schema.js';
import { defineRoute } from '../../../http/route.js';
import { project_id } from '../../../http/parameters.js';
import { completionPageRead, versionStatisticsRead } from './presenters.js';
import { CompletionPageRead, completionQuery, statisticsQuery, TAG, VersionStatisticsRead } from './schema.js';

/** Completions of a prompt, and figures of its versions. */
export function completionRoutes(completions: CompletionLists) {
  return [listCompletionsRoute(completions), summarizeVersionsRoute(completions)];
}

function listCompletionsRoute(completions: Pick<CompletionLists, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/completions',
    operationId: 'listPromptCompletions',
    summary: 'List the completions of a prompt',
    description:
      "Returns spans that name the prompt or one of its versions, with the version, people's thumbs and the latest " +
      'verdict of each judge. `total` counts all spans that match the filters.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ project_id, prompt_slug: Slug }),
    query: completionQuery,
    responses: { 200: { description: 'A page of completions.', schema: CompletionPageRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, prompt_slug }, query: { filter, order }, signal }) => ({
      status: 200,
      body: completionPageRead(await completions.list(project_id, prompt_slug, filter, order, signal), order.window),
    }),
  });
}

function summarizeVersionsRoute(completions: Pick<CompletionLists, 'statistics'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/versions:stats',
    operationId: 'getPromptVersionStatistics',
    summary: 'Summarize the completions of a prompt by version',
    description:
      "Returns calls, errors, cost, durations and tokens by version, with people's thumbs and the share of " +
      'completions that each judge passed. Each figure matches the list of completions with the same filters.',
    tag: TAG,
    access: 'key',
    params: Type.Object({ project_id, prompt_slug: Slug }),
    query: statisticsQuery,
    responses: { 200: { description: 'The figures.', schema: VersionStatisticsRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, prompt_slug }, query, signal }) => ({
      status: 200,
      body: versionStatisticsRead(await completions.statistics(project_id, prompt_slug, query, signal)),
    }),
  });
}
