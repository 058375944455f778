import type { JudgeService } from '../../../../domain/judge/judge-service.js';
import { JudgeRead } from '../../../../domain/judge/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { judgeRead } from './presenters.js';
import { JudgeParams, TAG } from './schema.js';

export function getJudgeRoute(judges: Pick<JudgeService, 'get'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id',
    operationId: 'getJudge',
    summary: 'Get a judge',
    description: 'Returns the settings of the judge, and whether it can run.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    responses: { 200: { description: 'The judge.', schema: JudgeRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params }) => ({ status: 200, body: judgeRead(judges.get(params.project_id, params.judge_id)) }),
  });
}
