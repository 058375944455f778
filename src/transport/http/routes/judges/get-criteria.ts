import type { JudgeService } from '../../../../domain/judge/judge-service.js';
import { CriteriaRead } from '../../../../domain/judge/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { criteriaRead } from './presenters.js';
import { JudgeParams, TAG } from './schema.js';

export function getCriteriaRoute(judges: Pick<JudgeService, 'requireEver'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/criteria',
    operationId: 'getJudgeCriteria',
    summary: 'Get the criteria of a judge',
    description: 'Returns the scale of the judge and its criteria with their keys. Works for deleted judges too.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    responses: { 200: { description: 'The criteria.', schema: CriteriaRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params }) => ({
      status: 200,
      body: criteriaRead(judges.requireEver(params.project_id, params.judge_id)),
    }),
  });
}
