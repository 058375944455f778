import { Readable } from 'node:stream';
import type { SelectedVersion } from '../../../../domain/prompt/prompt.js';
import type { PromptService } from '../../../../domain/prompt/prompt-service.js';
import { withTurns } from '../../../../domain/portions.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { toVersionRead } from './presenters.js';
import { ProjectPromptParams, PromptVersionRead, TAG } from './schema.js';

export function listVersionsRoute(prompts: Pick<PromptService, 'versions'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/prompts/:prompt_slug/versions',
    operationId: 'listPromptVersions',
    summary: 'List the versions of a prompt',
    description: 'Returns every version with its content, ascending by number.',
    tag: TAG,
    access: 'key',
    params: ProjectPromptParams,
    responses: {
      200: listOf(PromptVersionRead, 'The versions.'),
    },
    errors: ['not_found', 'overloaded', 'unavailable'],
    bulk: true,
    handle({ params: { project_id, prompt_slug } }) {
      // Written version by version: all contents together may be larger than memory.
      const stream = Readable.from(jsonArray(prompts.versions(project_id, prompt_slug)), { objectMode: false });
      return { status: 200, stream, contentType: 'application/json' };
    },
  });
}

async function* jsonArray(versions: Iterable<SelectedVersion>): AsyncGenerator<string> {
  let before = '[';
  for await (const version of withTurns(versions)) {
    yield before + JSON.stringify(toVersionRead(version));
    before = ',\n';
  }
  yield before === '[' ? '[]' : ']';
}
