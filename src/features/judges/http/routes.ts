import type { JudgeService } from '../judge-service.js';
import { JudgePreviewInput, JudgePreviewRead } from '../preview-schema.js';
import type { PreviewService } from '../preview-service.js';
import { CriteriaRead, JudgeInput, JudgePatch, JudgeRead } from '../schema.js';
import { defineRoute, uncheckedJsonBody } from '../../../http/route.js';
import { criteriaRead, judgeRead, judgePreviewRead } from './presenters.js';
import { JudgeParams, ProjectParams, TAG } from './schema.js';
import { evaluationRoutes, type EvaluationServices } from './evaluation-routes.js';

export interface JudgeServices extends EvaluationServices {
  readonly judges: JudgeService;
  readonly previews: PreviewService;
}

/** Judges, what they found, and what they are about to look at. */
export function judgeRoutes({ judges, previews, ...services }: JudgeServices) {
  return [
    createJudgeRoute(judges),
    previewJudgeRoute(previews),
    getJudgeRoute(judges),
    updateJudgeRoute(judges),
    deleteJudgeRoute(judges),
    getCriteriaRoute(judges),
    ...evaluationRoutes(services),
  ];
}

function createJudgeRoute(judges: Pick<JudgeService, 'create'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges',
    operationId: 'createJudge',
    summary: 'Create a judge',
    description:
      'From now on, the judge evaluates new spans that match its filters, at its sample rate, at most once each. ' +
      'With `subject`, it evaluates traces or sessions that have such a span, once no span has arrived for ' +
      '`quiet_seconds`, and again when new spans arrive. ' +
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

function previewJudgeRoute(previews: Pick<PreviewService, 'preview'>) {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges:preview',
    operationId: 'previewJudge',
    summary: 'Preview a judge',
    description:
      'Counts the spans, traces or sessions of the last 24 hours that the judge would have evaluated, shows some of them, and ' +
      'estimates tokens and cost per day, without creating the judge. With `try`, it asks the model about up to three of ' +
      'them now and returns the request as sent and the verdict. No evaluation is stored; the calls are stored as spans ' +
      'tagged `spanhouse.judge=draft`. Returns 409 if the model cannot be called.',
    tag: TAG,
    access: 'key',
    scopes: ['judges:write', 'spans:read'],
    params: ProjectParams,
    body: uncheckedJsonBody(JudgePreviewInput),
    responses: { 200: { description: 'The preview.', schema: JudgePreviewRead } },
    errors: ['conflict', 'overloaded', 'unavailable'],
    handle: async ({ principal, body, signal }) => ({
      status: 200,
      body: judgePreviewRead(await previews.preview(principal, body, signal)),
    }),
  });
}

function getJudgeRoute(judges: Pick<JudgeService, 'get'>) {
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

function updateJudgeRoute(judges: Pick<JudgeService, 'update'>) {
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

function deleteJudgeRoute(judges: Pick<JudgeService, 'remove'>) {
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

function getCriteriaRoute(judges: Pick<JudgeService, 'requireEver'>) {
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
