import { RunsRetriedRead } from '../../../../domain/judge/run-schema.js';
import type { RunService } from '../../../../domain/judge/run-service.js';
import { defineRoute, type Route } from '../../route.js';
import { JudgeParams, TAG } from './schema.js';

export function retryRunsRoute(runs: Pick<RunService, 'retryFailed'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges/:judge_id:retry',
    operationId: 'retryJudgeRuns',
    summary: 'Retry failed evaluations of a judge',
    description:
      'Queues the failed runs of the judge again, oldest first, each with all its attempts and a new id. Runs whose ' +
      'span is already queued, failed again or was evaluated since are unchanged, so repeating the call queues ' +
      'nothing twice. It queues as many as the queue has room for; `left` counts the others. Returns 429 if the ' +
      'queue is full, 409 if the judge cannot run.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    responses: { 202: { description: 'Number of retried evaluations.', schema: RunsRetriedRead } },
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    handle: async ({ params: { project_id, judge_id } }) => ({
      status: 202,
      body: await runs.retryFailed(project_id, judge_id),
    }),
  });
}
