import type { JudgeService } from '../../../../domain/judge/judge-service.js';
import { JudgeRead } from '../../../../domain/judge/schema.js';
import { queryOf } from '../../query.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { judgeRead } from './presenters.js';
import { JudgeListQuery, ProjectParams, TAG } from './schema.js';

export function listJudgesRoute(judges: Pick<JudgeService, 'list'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges',
    operationId: 'listJudges',
    summary: 'List the judges',
    description: 'The judges of the project, oldest first, without deleted ones.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: queryOf(JudgeListQuery),
    responses: { 200: listOf(JudgeRead, 'The judges.') },
    errors: ['unavailable'],
    handle: ({ params, query }) => ({ status: 200, body: judges.list(params.project_id, query).map(judgeRead) }),
  });
}
