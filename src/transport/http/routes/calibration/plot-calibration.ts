import { Type } from '@sinclair/typebox';
import type { CalibrationService } from '../../../../domain/learning/calibration/calibration-service.js';
import { defineRoute, type Route } from '../../route.js';
import { calibrationSvg } from './calibration-svg.js';
import { JudgeParams, reportQuery, TAG } from './schema.js';

const SVG = 'image/svg+xml';

export function plotCalibrationRoute(calibration: Pick<CalibrationService, 'report'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/calibration.svg',
    operationId: 'plotCalibration',
    summary: 'Plot the agreement of a judge',
    description:
      "Returns a chart of the judge's agreement with people (rates with their intervals, and κ) for its newest 24 " +
      'versions.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    query: reportQuery,
    responses: {
      200: { description: 'The picture.', schema: Type.String({ description: 'SVG.' }), contentType: SVG },
    },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, judge_id }, query }) => ({
      status: 200,
      content: calibrationSvg(calibration.report(project_id, judge_id, query)),
      contentType: SVG,
    }),
  });
}
