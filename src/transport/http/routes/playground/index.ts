import type { PlaygroundService } from '../../../../domain/playground/playground-service.js';
import {
  MAX_BODY_BYTES,
  PlaygroundEstimate,
  PlaygroundInput,
  PlaygroundRun,
} from '../../../../domain/playground/schema.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { ProjectParams } from '../parameters.js';

const TAG = 'Playground';
const body = { ...jsonBody(PlaygroundInput), maxBytes: MAX_BODY_BYTES };

/** Asking a model something else than was asked. */
export function playgroundRoutes(playground: PlaygroundService): Route[] {
  return [estimateRoute(playground), runRoute(playground)];
}

function estimateRoute(playground: Pick<PlaygroundService, 'estimate'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/playground:estimate',
    operationId: 'estimatePlayground',
    summary: 'Say what a call would cost',
    description:
      'Takes what `playground:run` takes, and says which model would be asked, and about how many tokens and how much that would ' +
      'come to. No model is asked. 409 when none can be.',
    tag: TAG,
    access: 'key',
    purpose: 'read',
    params: ProjectParams,
    body,
    responses: { 200: { description: 'What the call would come to.', schema: PlaygroundEstimate } },
    errors: ['not_found', 'conflict'],
    handle: ({ params: { project_id }, body: input }) => ({
      status: 200,
      body: playground.estimate(project_id, input),
    }),
  });
}

function runRoute(playground: Pick<PlaygroundService, 'run'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/playground:run',
    operationId: 'runPlayground',
    summary: 'Ask a model',
    description:
      'Sends the messages to the model endpoint that is configured (`JUDGE_LLM_BASE_URL`), and answers what the model said, with ' +
      'tokens, cost and time. When it did not answer, `failure` says why: that is a 200, too. The call is stored as a span tagged ' +
      "`spanhouse.playground` with the user's id, also when it failed; it is deleted with the span in `source`. When the client " +
      'leaves, the call is given up. 409 when no model can be asked; 429 when too many calls of the project are under way.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body,
    responses: { 200: { description: 'What the model answered.', schema: PlaygroundRun } },
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    handle: async ({ principal, body: input, signal }) => ({
      status: 200,
      body: await playground.run(principal, input, signal),
    }),
  });
}
