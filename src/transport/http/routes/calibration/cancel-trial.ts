import type { CalibrationService } from '../../../../domain/learning/calibration/calibration-service.js';
import { CalibrationTrialRead } from '../../../../domain/learning/calibration/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { JobParams, TAG } from './schema.js';
import { toTrialRead } from './trial-presenters.js';

export function cancelTrialRoute(calibration: Pick<CalibrationService, 'cancel'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges/:judge_id/calibration/evaluations/:job_id:cancel',
    operationId: 'cancelCalibrationTrial',
    summary: 'Cancel a calibration trial',
    description: 'Aborts running model calls. A job that has ended cannot be canceled (409).',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The canceled job.', schema: CalibrationTrialRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle: ({ params: { project_id, judge_id, job_id } }) => ({
      status: 200,
      body: toTrialRead(calibration.cancel(project_id, judge_id, job_id)),
    }),
  });
}
