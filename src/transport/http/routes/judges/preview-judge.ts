import { JudgePreviewInput, JudgePreviewRead } from '../../../../domain/judge/preview-schema.js';
import type { PreviewService } from '../../../../domain/judge/preview-service.js';
import { defineRoute, uncheckedJsonBody, type Route } from '../../route.js';
import { judgePreviewRead } from './preview-presenters.js';
import { ProjectParams, TAG } from './schema.js';

export function previewJudgeRoute(previews: Pick<PreviewService, 'preview'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges:preview',
    operationId: 'previewJudge',
    summary: 'Preview a judge',
    description:
      'Counts the spans of the last 24 hours that the judge would have evaluated, shows some of them, and estimates ' +
      'tokens and cost per day, without creating the judge. With `try`, it asks the model about up to three spans ' +
      'now and returns the request as sent and the verdict. No evaluation is stored; the calls are stored as spans ' +
      'tagged `spanhouse.judge=draft`. Returns 409 if the model cannot be called.',
    tag: TAG,
    access: 'key',
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
