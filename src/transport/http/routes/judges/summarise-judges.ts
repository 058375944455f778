import { JudgeFiguresRead } from '../../../../domain/judge-figures/schema.js';
import type { JudgeFigureService } from '../../../../domain/judge-figures/judge-figures.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { figuresQuery, ProjectParams, TAG } from './schema.js';

export function summariseJudgesRoute(figures: Pick<JudgeFigureService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges:stats',
    operationId: 'summariseJudges',
    summary: 'Summarize the results of judges',
    description:
      'Returns for each judge, in list order and without deleted ones: its evaluations in a time range, how many of ' +
      'them passed, the rate with its interval, and how many evaluations are waiting or failed. `start_date` and ' +
      '`end_date` have the same meaning as in the list of evaluations, which has the rows.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: figuresQuery,
    responses: { 200: listOf(JudgeFiguresRead, 'Results by judge.') },
    errors: ['unavailable'],
    bulk: true,
    handle: async ({ params: { project_id }, query: { between, window }, signal }) => ({
      status: 200,
      body: await figures.list(project_id, between, window, signal),
    }),
  });
}
