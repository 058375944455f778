import { Type } from '@sinclair/typebox';
import type { JudgeFigureService } from '../judge-figures.js';
import { JudgeFiguresRead, ListedJudgeRead } from '../schema.js';
import type { JudgeService } from '../../judges/judge-service.js';
import {
  checkFigures,
  figuresSince,
  TOTAL_COUNT_HEADERS,
  totalCountHeader,
  withFigures,
} from '../../../http/figures-query.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, listOf } from '../../../http/route.js';
import { judgeRead } from '../../judges/http/presenters.js';
import { judgePage, ProjectParams, TAG } from '../../judges/http/schema.js';
import { checkTimeRange, timeRange } from '../../../http/time-range.js';

/** What judges found, and the list of them that can say so. */
export function judgeFigureRoutes(judges: Pick<JudgeService, 'list' | 'count'>, figures: JudgeFigureService) {
  return [summarizeJudgesRoute(figures), listJudgesRoute(judges, figures)];
}

const FiguresQuery = Type.Object({ ...judgePage, ...timeRange('evaluations stored') });

const figuresQuery = queryOf(FiguresQuery, {
  check: checkTimeRange,
  to: ({ start_date: start = null, end_date: end = null, ...window }) => ({ between: { start, end }, window }),
});

function summarizeJudgesRoute(figures: Pick<JudgeFigureService, 'list'>) {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges:stats',
    operationId: 'summariseJudges',
    summary: 'Summarize the results of judges',
    description:
      'Returns for each judge, in list order and without deleted ones: its evaluations in a time range, how many of ' +
      'them passed, the rate with its interval, and how many evaluations are waiting or failed. `start_date` and ' +
      '`end_date` have the same meaning as in the list of evaluations, which has the rows.',
    tag: TAG,
    access: 'key',
    params: ProjectParams,
    query: figuresQuery,
    responses: { 200: listOf(JudgeFiguresRead, 'Results by judge.') },
    errors: ['unavailable'],
    bulk: true,
    handle: async ({ params: { project_id }, query: { between, window }, signal }) => ({
      status: 200,
      body: await figures.list(project_id, between, window, signal),
    }),
  });
}

const query = queryOf(Type.Object({ ...judgePage, ...withFigures }), {
  check: checkFigures,
  to: ({ limit, offset, count, ...asked }) => ({ window: { limit, offset }, count, since: figuresSince(asked) }),
});

function listJudgesRoute(judges: Pick<JudgeService, 'list' | 'count'>, figures: Pick<JudgeFigureService, 'of'>) {
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
