import { JudgeFiguresRead } from '../../../../domain/judge-figures/schema.js';
import type { JudgeFigureService } from '../../../../domain/judge-figures/judge-figures.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { figuresQuery, ProjectParams, TAG } from './schema.js';

export function summariseJudgesRoute(figures: Pick<JudgeFigureService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges:stats',
    operationId: 'summariseJudges',
    summary: 'Sum up what judges found',
    description:
      'For each judge in the order of their list, without deleted ones: its evaluations in a time, how many of them passed, the ' +
      'rate with its interval, and how many evaluations wait and failed. `start_date` and `end_date` mean what they do in the list ' +
      'of evaluations, which has the rows.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: figuresQuery,
    responses: { 200: listOf(JudgeFiguresRead, 'Figures by judge.') },
    errors: ['unavailable'],
    bulk: true,
    handle: async ({ params: { project_id }, query: { between, window }, signal }) => ({
      status: 200,
      body: await figures.list(project_id, between, window, signal),
    }),
  });
}
