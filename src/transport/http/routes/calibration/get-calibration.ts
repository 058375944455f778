import type { CalibrationService } from '../../../../domain/learning/calibration/calibration-service.js';
import { CalibrationRead } from '../../../../domain/learning/calibration/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { calibrationRead } from './presenters.js';
import { JudgeParams, reportQuery, TAG } from './schema.js';

export function getCalibrationRoute(calibration: Pick<CalibrationService, 'report' | 'perCall'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/calibration',
    operationId: 'getCalibration',
    summary: 'Compare a judge with people',
    description:
      'Reports how often people agreed with evaluations of the judge: overall, by week and by version of the judge. ' +
      "A correction is one user's feedback on one evaluation, which was the latest one of the span at that time. " +
      'Further feedback on the same evaluation replaces it; feedback on a later evaluation is a separate ' +
      'correction. For a version of the judge, corrections of spans that already had feedback before the evaluation ' +
      'do not count, because the judge knew that feedback. `trial` says whether `calibration:evaluate` can run, and ' +
      'what is missing. Works for deleted judges too.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    query: reportQuery,
    responses: { 200: { description: 'The report.', schema: CalibrationRead } },
    errors: ['not_found', 'unavailable'],
    async handle({ params: { project_id, judge_id }, query }) {
      const perCall = await calibration.perCall(project_id, judge_id);
      return { status: 200, body: calibrationRead(calibration.report(project_id, judge_id, query), perCall) };
    },
  });
}
