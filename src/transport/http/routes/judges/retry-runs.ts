import { RunsRetriedRead } from '../../../../domain/judge/run-schema.js';
import type { RunService } from '../../../../domain/judge/run-service.js';
import { defineRoute, type Route } from '../../route.js';
import { JudgeParams, TAG } from './schema.js';

export function retryRunsRoute(runs: Pick<RunService, 'retryFailed'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges/:judge_id:retry',
    operationId: 'retryJudgeRuns',
    summary: 'Try failed evaluations of a judge again',
    description:
      'Queues the failed runs of the judge again, the oldest first, each with all its attempts and with another id. Those whose span ' +
      'is queued already, failed once more or was evaluated since stay as they are: repeating the call queues nothing twice. As ' +
      'many are queued as the queue has room for; `left` says how many that leaves. 429 when there is room for none, 409 when the ' +
      'judge cannot run.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    responses: { 202: { description: 'How many are tried again.', schema: RunsRetriedRead } },
    errors: ['not_found', 'conflict', 'overloaded', 'unavailable'],
    handle: async ({ params: { project_id, judge_id } }) => ({
      status: 202,
      body: await runs.retryFailed(project_id, judge_id),
    }),
  });
}
