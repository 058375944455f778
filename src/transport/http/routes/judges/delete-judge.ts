import type { JudgeService } from '../../../../domain/judge/judge-service.js';
import { defineRoute, type Route } from '../../route.js';
import { JudgeParams, TAG } from './schema.js';

export function deleteJudgeRoute(judges: Pick<JudgeService, 'remove'>): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/projects/:project_id/judges/:judge_id',
    operationId: 'deleteJudge',
    summary: 'Delete a judge',
    description:
      'The judge no longer runs, and its queued evaluations are discarded. You can still read its evaluations, ' +
      'criteria and prompt.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    responses: { 204: { description: 'The judge is deleted.' } },
    errors: ['not_found', 'unavailable'],
    handle({ principal, params }) {
      judges.remove(principal, params.judge_id);
      return { status: 204 };
    },
  });
}
