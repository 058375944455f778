import type { JudgeService } from '../../../../domain/judge/judge-service.js';
import { JudgePatch, JudgeRead } from '../../../../domain/judge/schema.js';
import { defineRoute, uncheckedJsonBody, type Route } from '../../route.js';
import { judgeRead } from './presenters.js';
import { JudgeParams, TAG } from './schema.js';

export function updateJudgeRoute(judges: Pick<JudgeService, 'update'>): Route {
  return defineRoute({
    method: 'PATCH',
    path: '/projects/:project_id/judges/:judge_id',
    operationId: 'updateJudge',
    summary: 'Update a judge',
    description:
      'Absent settings do not change. Filters and sample rate apply to spans that are checked from now on; stored ' +
      'evaluations do not change. Disabling a judge discards the evaluations that it queued automatically, but not ' +
      'those that run calls queued. After you enable it again, it evaluates spans that arrive from then on. A ' +
      '`prompt` with the text of an older version gets 409: pin the tag `production` to that version instead.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    body: uncheckedJsonBody(JudgePatch),
    responses: { 200: { description: 'The judge.', schema: JudgeRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ principal, params, body }) => ({
      status: 200,
      body: judgeRead(judges.update(principal, params.judge_id, body)),
    }),
  });
}
