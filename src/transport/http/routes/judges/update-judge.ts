import type { JudgeService } from '../../../../domain/judge/judge-service.js';
import { JudgePatch, JudgeRead } from '../../../../domain/judge/schema.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { judgeRead } from './presenters.js';
import { JudgeParams, TAG } from './schema.js';

export function updateJudgeRoute(judges: Pick<JudgeService, 'update'>): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/judges/:judge_id',
    operationId: 'updateJudge',
    summary: 'Change a judge',
    description:
      'What is absent stays. Filters and sample rate count for spans that are looked at from now on; stored evaluations ' +
      'stay as they are. Disabling gives up what it had queued by itself; what run calls queued is still evaluated. ' +
      'Enabled again, it evaluates spans that arrive from then on. A `prompt` that is an older version of its prompt is 409: ' +
      'pin the tag `production` to that version instead.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    body: jsonBody(JudgePatch, (value) => value),
    responses: { 200: { description: 'The judge.', schema: JudgeRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: judgeRead(judges.update(principal, params.judge_id, body)),
    }),
  });
}
