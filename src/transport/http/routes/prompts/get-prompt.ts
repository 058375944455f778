import { Type } from '@sinclair/typebox';
import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { Tag, VersionNumber } from '../../../../domain/prompt/schema.js';
import { queryOf } from '../../query.js';
import { defineRoute, type Route } from '../../route.js';
import type { VersionJson } from './presenters.js';
import { PromptParams, PromptVersionRead, selectorOf, TAG } from './schema.js';

const query = queryOf(
  Type.Object({
    version: Type.Optional(Type.Integer({ ...VersionNumber, description: 'Number of the version; overrides `tag`.' })),
    tag: Type.String({ ...Tag, default: 'latest', description: 'Tag of the version, such as `production`.' }),
  }),
);

export function getPromptRoute(prompts: Pick<PromptService, 'fetch'>, versionJson: VersionJson): Route {
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
    query,
    responses: { 200: { description: 'The version.', schema: PromptVersionRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ principal, params, query: { version, tag } }) => ({
      status: 200,
      json: versionJson(prompts.fetch(principal.project_id, params.prompt_slug, selectorOf(version, tag))),
    }),
  });
}
