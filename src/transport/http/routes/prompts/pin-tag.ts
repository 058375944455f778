import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { PinInput } from '../../../../domain/prompt/schema.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { TAG, TagEntryRead, TagParams } from './schema.js';

export function pinTagRoute(prompts: Pick<PromptService, 'pin'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/tags/:tag:pin',
    operationId: 'pinPromptTag',
    summary: 'Pin a tag to a version',
    description:
      'From now on, the tag points to this version. The history of the tag keeps every pin. `latest` automatically ' +
      'follows the newest version and cannot be pinned (409). A prompt has at most 1,000 tags, including removed ' +
      'ones; pinning a further one is refused (409).',
    tag: TAG,
    access: 'key',
    params: TagParams,
    body: jsonBody(PinInput, { lenient: true }),
    responses: { 200: { description: 'The tag and the version that it points to.', schema: TagEntryRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params: { prompt_slug, tag }, body: { version } }) => ({
      status: 200,
      body: prompts.pin(principal, prompt_slug, { tag, version }),
    }),
  });
}
