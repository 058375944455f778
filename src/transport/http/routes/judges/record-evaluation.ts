import type { EvaluationService } from '../../../../domain/judge/evaluation-service.js';
import { MOST_OF_SPAN } from '../../../../domain/judge/evaluation.js';
import { EvaluationInput, EvaluationRead } from '../../../../domain/judge/schema.js';
import { defineRoute, uncheckedJsonBody, type Route } from '../../route.js';
import { evaluationRead } from './presenters.js';
import { JudgeParams, TAG } from './schema.js';

export function recordEvaluationRoute(evaluations: Pick<EvaluationService, 'record'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges/:judge_id/evaluations',
    operationId: 'recordEvaluation',
    summary: 'Store an evaluation that ran elsewhere',
    description: `Each call stores a further evaluation. For a scored judge, score and threshold determine the result. Returns 409 if the span has ${MOST_OF_SPAN} evaluations. The span may arrive later; the id of a stored trace or session is refused (422).`,
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    body: uncheckedJsonBody(EvaluationInput),
    responses: { 201: { description: 'The evaluation.', schema: EvaluationRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: async ({ params: { project_id, judge_id }, body }) => ({
      status: 201,
      body: evaluationRead(await evaluations.record(project_id, judge_id, body)),
    }),
  });
}
