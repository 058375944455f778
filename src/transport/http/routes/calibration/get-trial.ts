import type { CalibrationService } from '../../../../domain/learning/calibration/calibration-service.js';
import { CalibrationTrialRead } from '../../../../domain/learning/calibration/schema.js';
import { defineRoute, type Route } from '../../route.js';
import { JobParams, TAG } from './schema.js';
import { toTrialRead } from './trial-presenters.js';

export function getTrialRoute(calibration: Pick<CalibrationService, 'trial'>): Route {
  return defineRoute({
    method: 'GET',
    path: '/projects/:project_id/judges/:judge_id/calibration/evaluations/:job_id',
    operationId: 'getCalibrationTrial',
    summary: 'Get a calibration trial',
    description:
      'Returns state and progress of the job and, once it is done, the agreement with people without and with ' +
      'examples.',
    tag: TAG,
    access: 'key',
    params: JobParams,
    responses: { 200: { description: 'The job.', schema: CalibrationTrialRead } },
    errors: ['not_found', 'unavailable'],
    handle: ({ params: { project_id, judge_id, job_id } }) => ({
      status: 200,
      body: toTrialRead(calibration.trial(project_id, judge_id, job_id)),
    }),
  });
}
