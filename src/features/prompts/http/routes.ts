import { Type } from '@sinclair/typebox';
import type { PromptFigureService } from '../prompt-figures.js';
import type { PromptService } from '../prompt-service.js';
import { TagName } from '../../../engine/schema/tag.js';
import { VersionNumber } from '../schema.js';
import {
  checkFigures,
  figuresSince,
  MAX_WITH_FIGURES,
  TOTAL_COUNT_HEADERS,
  totalCountHeader,
  withFigures,
} from '../../../http/figures-query.js';
import { page } from '../../../http/page.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, listOf } from '../../../http/route.js';
import { rememberVersionJson, toSummaryRead, type VersionJson } from './presenters.js';
import { ProjectParams, PromptParams, PromptSummaryRead, PromptVersionRead, selectorOf, TAG } from './schema.js';
import { tagRoutes } from './tag-routes.js';
import { versionRoutes } from './version-routes.js';

/** Everything about prompts, their versions and tags. */
export function promptRoutes(prompts: PromptService, figures: PromptFigureService) {
  const versionJson = rememberVersionJson();
  return [
    getPromptRoute(prompts, versionJson),
    listPromptsRoute(prompts, figures),
    ...versionRoutes(prompts, versionJson),
    ...tagRoutes(prompts.tags),
  ];
}

const selectorQuery = queryOf(
  Type.Object({
    version: Type.Optional(Type.Integer({ ...VersionNumber, description: 'Number of the version; overrides `tag`.' })),
    tag: Type.String({ ...TagName, default: 'latest', description: 'Tag of the version, such as `production`.' }),
  }),
);

function getPromptRoute(prompts: Pick<PromptService, 'fetch'>, versionJson: VersionJson) {
  return defineRoute({
    method: 'GET',
    path: '/v1/prompts/:prompt_slug',
    operationId: 'getPrompt',
    summary: 'Get a version of a prompt',
    description:
      'Returns the newest version, or the one with this number or tag. It is served from memory until the next ' +
      'write, and reflects every write acknowledged before.',
    tag: TAG,
    access: 'key',
    params: PromptParams,
    query: selectorQuery,
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params, query: { version, tag } }) => ({
      status: 200,
      json: versionJson(prompts.fetch(principal.project_id, params.prompt_slug, selectorOf(version, tag))),
    }),
  });
}

const MAX_LIMIT = 1000;

const ListQuery = Type.Object({
  ...page({ maxLimit: MAX_LIMIT, defaultLimit: MAX_LIMIT }),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_LIMIT,
      description: `Maximum number of items. Default: ${MAX_LIMIT}; with \`include=figures\` ${MAX_WITH_FIGURES}.`,
    }),
  ),
  q: Type.String({
    maxLength: 200,
    default: '',
    description: 'Only prompts whose slug contains this text, ignoring case.',
  }),
  ...withFigures,
});

const listQuery = queryOf(ListQuery, {
  check: checkFigures,
  to: ({ q, count, limit, offset, ...asked }) => {
    const since = figuresSince(asked);
    return { q, count, since, window: { limit: limit ?? (since === null ? MAX_LIMIT : MAX_WITH_FIGURES), offset } };
  },
});

function listPromptsRoute(prompts: Pick<PromptService, 'list' | 'count'>, figures: Pick<PromptFigureService, 'of'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts',
    operationId: 'listPrompts',
    summary: 'List the prompts of the project',
    description:
      'Returns slug, number of versions, newest version and tags of each prompt, sorted by slug. With ' +
      '`include=figures`, each also has its calls, errors and cost, which are those of `GET /spans?prompt_slug=` ' +
      'with `started_after`, and the amount of feedback.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: listQuery,
    responses: {
      200: { ...listOf(PromptSummaryRead, 'The prompts.'), headers: TOTAL_COUNT_HEADERS },
    },
    errors: ['unavailable'],
    async handle({ params: { project_id }, query: { q, count, since, window }, signal }) {
      const found = await prompts.list(project_id, window, q);
      const headers = totalCountHeader(count ? prompts.count(project_id, q) : null);
      const listed = found.map(toSummaryRead);
      if (since === null) return { status: 200, headers, body: listed };
      const figured = await figures.of(project_id, found, since, signal);
      const body = figured.flatMap((of, index) => {
        const prompt = listed[index];
        return prompt === undefined ? [] : [{ ...prompt, figures: of }];
      });
      return { status: 200, headers, body };
    },
  });
}
