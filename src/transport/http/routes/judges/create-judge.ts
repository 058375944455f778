import type { JudgeService } from '../../../../domain/judge/judge-service.js';
import { JudgeInput, JudgeRead } from '../../../../domain/judge/schema.js';
import { defineRoute, uncheckedJsonBody, type Route } from '../../route.js';
import { judgeRead } from './presenters.js';
import { ProjectParams, TAG } from './schema.js';

export function createJudgeRoute(judges: Pick<JudgeService, 'create'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges',
    operationId: 'createJudge',
    summary: 'Create a judge',
    description:
      'From now on, the judge evaluates new spans that match its filters, at its sample rate, at most once each. ' +
      'Its instruction is a prompt: `prompt` creates a new one, with a slug made from the name; `task_slug` refers ' +
      'to an existing one. The judge uses the version with the tag `production`, or the latest if no version has ' +
      'it.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    body: uncheckedJsonBody(JudgeInput),
    responses: { 201: { description: 'The judge.', schema: JudgeRead } },
    errors: ['unavailable'],
    handle({ principal, body }) {
      const judge = judgeRead(judges.create(principal, body));
      return { status: 201, headers: { Location: `/projects/${judge.project_id}/judges/${judge.id}` }, body: judge };
    },
  });
}
