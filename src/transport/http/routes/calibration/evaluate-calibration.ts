import type { CalibrationService } from '../../../../domain/learning/calibration/calibration-service.js';
import { CalibrationTrialRead, TrialInputBody } from '../../../../domain/learning/calibration/schema.js';
import { defineRoute, jsonBody, type Route } from '../../route.js';
import { JudgeParams, TAG } from './schema.js';
import { toTrialRead } from './trial-presenters.js';

export function evaluateCalibrationRoute(calibration: Pick<CalibrationService, 'evaluate'>): Route {
  return defineRoute({
    method: 'POST',
    path: '/projects/:project_id/judges/:judge_id/calibration:evaluate',
    operationId: 'evaluateCalibration',
    summary: 'Measure whether corrections help a judge',
    description:
      'Queues a job in which the judge evaluates a held-out half of the spans with corrections: once without ' +
      'examples, and once with the corrections of the other half as examples. A hash of its id assigns each span to ' +
      'one half. The verdicts are not stored as evaluations; the calls are stored as spans tagged ' +
      '`spanhouse.calibration`. The job resumes after a restart.',
    tag: TAG,
    access: 'key',
    params: JudgeParams,
    body: jsonBody(TrialInputBody),
    responses: { 202: { description: 'The job.', schema: CalibrationTrialRead } },
    errors: ['not_found', 'conflict', 'unavailable'],
    handle({ principal, params: { project_id, judge_id }, body }) {
      const trial = toTrialRead(calibration.evaluate(principal, judge_id, body));
      const location = `/projects/${project_id}/judges/${judge_id}/calibration/evaluations/${trial.id}`;
      return { status: 202, headers: { Location: location }, body: trial };
    },
  });
}
