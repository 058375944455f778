import { Type } from '@sinclair/typebox';
import type { JudgeFigureService } from '../../../../domain/judge-figures/judge-figures.js';
import { ListedJudgeRead } from '../../../../domain/judge-figures/schema.js';
import type { JudgeService } from '../../../../domain/judge/judge-service.js';
import { checkFigures, figuresSince, TOTAL_COUNT_HEADERS, totalCountHeader, withFigures } from '../../figures-query.js';
import { queryOf } from '../../query.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { judgeRead } from './presenters.js';
import { judgePage, ProjectParams, TAG } from './schema.js';

const query = queryOf(Type.Object({ ...judgePage, ...withFigures }), {
  check: checkFigures,
  to: ({ limit, offset, count, ...asked }) => ({ window: { limit, offset }, count, since: figuresSince(asked) }),
});

export function listJudgesRoute(
  judges: Pick<JudgeService, 'list' | 'count'>,
  figures: Pick<JudgeFigureService, 'of'>,
): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges',
    operationId: 'listJudges',
    summary: 'List the judges',
    description:
      'Returns the judges of the project, oldest first, without deleted ones. With `include=figures`, each has its ' +
      'results, waiting and failed evaluations, and its agreement with people.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query,
    responses: { 200: { ...listOf(ListedJudgeRead, 'The judges.'), headers: TOTAL_COUNT_HEADERS } },
    errors: ['unavailable'],
    bulk: true,
    async handle({ params: { project_id }, query: { window, count, since }, signal }) {
      const listed = judges.list(project_id, window).map(judgeRead);
      const headers = totalCountHeader(count ? judges.count(project_id) : null);
      if (since === null) return { status: 200, headers, body: listed };
      const of = await figures.of(project_id, since, window, signal);
      return { status: 200, headers, body: listed.map((judge) => ({ ...judge, figures: of.get(judge.id) })) };
    },
  });
}
