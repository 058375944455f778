import { Type } from '@sinclair/typebox';
import { formatTimestamp } from '../../../engine/timestamp.js';
import { project_id } from '../../../http/parameters.js';
import { defineRoute, uncheckedJsonBody } from '../../../http/route.js';
import { Slug } from '../../prompts/schema.js';
import type { CompletionLog, LoggedCompletion } from '../completion-log.js';
import { CompletionInput, LoggedCompletionRead } from '../logged-schema.js';
import { TAG } from './schema.js';

export function logCompletionRoute(log: Pick<CompletionLog, 'log'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/prompts/:prompt_slug/completions',
    operationId: 'logCompletion',
    summary: 'Log a completion of a prompt',
    description:
      'Stores a completion of a prompt as a span of the kind `llm`. If `span_id` names a stored span, that span becomes the ' +
      'completion: it keeps what the request does not say. Otherwise the completion gets a span of its own. Without `span_id`, a ' +
      "retry is another completion. In place of the project id, the text `{project_id}` means the key's project.",
    tag: TAG,
    access: 'key',
    scopes: ['spans:write', 'prompts:read'],
    takesPlaceholder: true,
    params: Type.Object({ project_id, prompt_slug: Slug }),
    body: uncheckedJsonBody(CompletionInput, { lenient: true }),
    responses: { 200: { description: 'The completion.', schema: LoggedCompletionRead } },
    errors: ['not_found', 'invalid', 'overloaded', 'unavailable'],
    handle: async ({ params, body }) => ({
      status: 200,
      body: loggedRead(params.project_id, await log.log(params.project_id, params.prompt_slug, body)),
    }),
  });
}

function loggedRead(projectId: string, { input, prompt, span, created_at }: LoggedCompletion): LoggedCompletionRead {
  return {
    ...{ id: span.id, trace_id: span.trace_id, project_id: projectId, prompt_id: prompt.id, prompt_slug: prompt.slug },
    prompt_version_id: input.prompt_version_id ?? null,
    model_id: input.model_id ?? null,
    messages: input.messages ?? [],
    input_text: input.input_text ?? null,
    output_text: input.output_text ?? null,
    metadata: input.metadata ?? {},
    duration_ms: input.duration_ms ?? null,
    prompt_tokens: input.prompt_tokens ?? null,
    completion_tokens: input.completion_tokens ?? null,
    total_tokens: input.total_tokens ?? null,
    cost: span.cost,
    has_error: input.has_error === true || input.error_message != null,
    error_message: input.error_message ?? null,
    span_id: input.span_id ?? null,
    created_at: formatTimestamp(created_at),
  };
}
