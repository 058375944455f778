import { RunInput, RunQueuedRead } from '../../../../domain/judge/run-schema.js';
import type { RunService } from '../../../../domain/judge/run-service.js';
import { defineRoute, uncheckedJsonBody, type Route } from '../../route.js';
import { runQueuedRead } from './presenters.js';
import { JudgeParams, TAG } from './schema.js';

export function runJudgeRoute(runs: Pick<RunService, 'run'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges/:judge_id:run',
    operationId: 'runJudge',
    summary: 'Run a judge on spans',
    description:
      'Queues an evaluation of every span listed in the body, or of the newest finished spans that match the ' +
      'filters (`backfill`). Spans that were evaluated before get a further evaluation. Disabled judges can run ' +
      'too. Returns 409 if the judge cannot run, 429 if the queue has no room for all of them.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    body: uncheckedJsonBody(RunInput),
    responses: { 202: { description: 'The queued evaluations.', schema: RunQueuedRead } },
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    handle: async ({ params: { project_id, judge_id }, body }) => ({
      status: 202,
      body: runQueuedRead(await runs.run(project_id, judge_id, body)),
    }),
  });
}
