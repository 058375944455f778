import type { EvaluationLists } from '../../../../domain/judge/evaluation-lists.js';
import { EvaluationPageRead } from '../../../../domain/judge/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { evaluationPageAnswer } from './page-json.js';
import { evaluationQuery, JudgeParams, TAG } from './schema.js';

export function listEvaluationsRoute(evaluations: Pick<EvaluationLists, 'ofJudge'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/evaluations',
    operationId: 'listJudgeEvaluations',
    summary: 'List the evaluations of a judge',
    description:
      'Returns evaluations in storage order by default. Works for deleted judges too. `agreement=disagreed` lists ' +
      'evaluations on which judge and people disagree; `agreement=unreviewed&sort_by=confidence` lists those to ' +
      'review next. A page with fewer than `limit` items is the last one, unless evaluations were deleted ' +
      'meanwhile; otherwise the next one starts at `offset` plus `limit`. New evaluations are added at the end.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    query: evaluationQuery,
    responses: { 200: { description: 'A page of evaluations.', schema: EvaluationPageRead } },
    errors: ['not_found', 'unavailable'],
    bulk: true,
    handle: async ({ params: { project_id, judge_id }, query, signal }) =>
      evaluationPageAnswer(await evaluations.ofJudge(project_id, judge_id, query, signal), query.window),
  });
}
