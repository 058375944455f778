import type { ExplainService } from '../../../../domain/judge/explain-service.js';
import { ExplanationRead } from '../../../../domain/judge/run-schema.js';
import { defineRoute, type Route } from '../../route.js';
import { explanationRead } from './presenters.js';
import { JudgeSpanParams, TAG } from './schema.js';

export function explainSpanRoute(explanations: Pick<ExplainService, 'explain'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/explain/:span_id',
    operationId: 'explainJudge',
    summary: 'Explain why a span was or was not evaluated',
    description:
      'Returns why the judge did or did not evaluate this span: a code for programs, a sentence for people, and the ' +
      'facts behind it.',
    tag: TAG,
    access: 'key',
    params: JudgeSpanParams,
    responses: { 200: { description: 'The answer.', schema: ExplanationRead } },
    errors: ['not_found', 'unavailable'],
    handle: async ({ params: { project_id, judge_id, span_id } }) => ({
      status: 200,
      body: explanationRead(await explanations.explain(project_id, judge_id, span_id)),
    }),
  });
}
