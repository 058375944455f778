import { RunPageRead } from '../../../../domain/judge/run-schema.js';
import type { RunService } from '../../../../domain/judge/run-service.js';
import { queryOf } from '../../query.js';
import { defineRoute, type Route } from '../../route.js';
import { runPageRead } from './presenters.js';
import { JudgeParams, RunListQuery, TAG } from './schema.js';

export function listRunsRoute(runs: Pick<RunService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/runs',
    operationId: 'listJudgeRuns',
    summary: 'List the queued and failed evaluations of a judge',
    description:
      'Returns runs of the judge, newest first: evaluations that are queued, running or failed. Finished ones are ' +
      'in the list of evaluations. The server keeps the newest 10,000 failed runs of each judge.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    query: queryOf(RunListQuery),
    responses: { 200: { description: 'A page of runs.', schema: RunPageRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, judge_id }, query: { state, ...window } }) => ({
      status: 200,
      body: runPageRead(runs.list(project_id, judge_id, state ?? null, window), window),
    }),
  });
}
