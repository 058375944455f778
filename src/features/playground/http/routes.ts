import type { PlaygroundService } from '../playground-service.js';
import { MAX_BODY_BYTES, PlaygroundEstimate, PlaygroundInput, PlaygroundRun } from '../schema.js';
import { defineRoute, jsonBody } from '../../../http/route.js';
import { ProjectParams } from '../../../http/parameters.js';

const TAG = 'Playground';
const body = { ...jsonBody(PlaygroundInput), maxBytes: MAX_BODY_BYTES };

/** Asking a model something else than was asked. */
export function playgroundRoutes(playground: PlaygroundService) {
  return [estimateRoute(playground), runRoute(playground)];
}

function estimateRoute(playground: Pick<PlaygroundService, 'estimate'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/playground:estimate',
    operationId: 'estimatePlayground',
    summary: 'Estimate the cost of a playground call',
    description:
      'Takes the same body as `playground:run`, and returns which model would be called, with the estimated number ' +
      'of tokens and cost. It does not call a model. Returns 409 if none can be called.',
    tag: TAG,
    access: 'key',
    scopes: ['prompts:read'],
    params: ProjectParams,
    body,
    responses: { 200: { description: 'The estimate.', schema: PlaygroundEstimate } },
    errors: ['not_found', 'conflict'],
    handle: ({ params: { project_id }, body: input }) => ({
      status: 200,
      body: playground.estimate(project_id, input),
    }),
  });
}

function runRoute(playground: Pick<PlaygroundService, 'run'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/playground:run',
    operationId: 'runPlayground',
    summary: 'Call a model',
    description:
      "Sends the messages to the configured model endpoint (`JUDGE_LLM_BASE_URL`), and returns the model's response " +
      'with tokens, cost and time. If the model did not respond, `failure` says why; that is a 200, too. The call ' +
      "is stored as a span tagged `spanhouse.playground` with the user's id, even if it failed, and is deleted with " +
      'the span in `source`. If the client disconnects, the call is aborted. Returns 409 if no model can be called or the model budget is spent, ' +
      '429 if too many calls of the project are running.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body,
    responses: { 200: { description: 'The response of the model.', schema: PlaygroundRun } },
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    handle: async ({ principal, body: input, signal }) => ({
      status: 200,
      body: await playground.run(principal, input, signal),
    }),
  });
}
