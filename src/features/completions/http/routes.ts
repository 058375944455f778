import { Type } from '@sinclair/typebox';
import type { Window } from '../../../engine/schema/page.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import { project_id } from '../../../http/parameters.js';
import { defineRoute } from '../../../http/route.js';
import { Slug } from '../../prompts/schema.js';
import type { CompletionLists, CompletionPage } from '../completion-lists.js';
import type { CompletionLog } from '../completion-log.js';
import type { VersionStatistics } from '../version-statistics.js';
import { logCompletionRoute } from './log-route.js';
import { CompletionPageRead, completionQuery, statisticsQuery, TAG, VersionStatisticsRead } from './schema.js';

/** Completions of a prompt, and figures of its versions. */
export function completionRoutes(completions: CompletionLists, log: CompletionLog) {
  return [listCompletionsRoute(completions), logCompletionRoute(log), summarizeVersionsRoute(completions)];
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
    scopes: ['spans:read'],
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
    scopes: ['spans:read'],
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

function completionPageRead({ completions, total }: CompletionPage, window: Window): CompletionPageRead {
  return {
    completions: completions.map(({ version_id: _id, started_at, thumbs, verdicts, input, output, ...rest }) => ({
      ...rest,
      input_data: input,
      output_data: output,
      input,
      output,
      started_at: formatTimestamp(started_at),
      thumbs_up: thumbs.up,
      thumbs_down: thumbs.down,
      verdicts: [...verdicts],
    })),
    total,
    limit: window.limit,
    offset: window.offset,
  };
}

function versionStatisticsRead({ versions, looked_up }: VersionStatistics): VersionStatisticsRead {
  return { versions: versions.map((version) => ({ ...version, judges: [...version.judges] })), looked_up };
}
