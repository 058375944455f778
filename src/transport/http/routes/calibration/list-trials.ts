import type { CalibrationService } from '../../../../domain/learning/calibration/calibration-service.js';
import { CalibrationTrialSummaryRead } from '../../../../domain/learning/calibration/schema.js';
import { defineRoute, listOf, type Route } from '../../route.js';
import { JudgeParams, TAG } from './schema.js';
import { toTrialSummaryRead } from './trial-presenters.js';

export function listTrialsRoute(calibration: Pick<CalibrationService, 'trials'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/calibration/evaluations',
    operationId: 'listCalibrationTrials',
    summary: 'List calibration trials of a judge',
    description: 'Returns the newest hundred calibration jobs of the judge, newest first, without their results.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    responses: {
      200: listOf(CalibrationTrialSummaryRead, 'The jobs.'),
    },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, judge_id } }) => ({
      status: 200,
      body: calibration.trials(project_id, judge_id).map(toTrialSummaryRead),
    }),
  });
}
