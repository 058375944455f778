import { Type } from '@sinclair/typebox';
import type { CalibrationService } from '../calibration-service.js';
import { CalibrationRead, CalibrationTrialRead, CalibrationTrialSummaryRead, TrialInputBody } from '../schema.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { calibrationSvg } from './calibration-svg.js';
import { calibrationRead } from './presenters.js';
import { JobParams, JudgeParams, reportQuery, TAG } from './schema.js';
import { toTrialRead, toTrialSummaryRead } from './trial-presenters.js';

/** How far judges and people agree, and what corrections are worth. */
export function calibrationRoutes(calibration: CalibrationService) {
  return [
    getCalibrationRoute(calibration),
    plotCalibrationRoute(calibration),
    evaluateCalibrationRoute(calibration),
    listTrialsRoute(calibration),
    getTrialRoute(calibration),
    cancelTrialRoute(calibration),
  ];
}

function getCalibrationRoute(calibration: Pick<CalibrationService, 'report' | 'perCall'>) {
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

const SVG = 'image/svg+xml';

function plotCalibrationRoute(calibration: Pick<CalibrationService, 'report'>) {
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

function evaluateCalibrationRoute(calibration: Pick<CalibrationService, 'evaluate'>) {
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

function listTrialsRoute(calibration: Pick<CalibrationService, 'trials'>) {
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

function getTrialRoute(calibration: Pick<CalibrationService, 'trial'>) {
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

function cancelTrialRoute(calibration: Pick<CalibrationService, 'cancel'>) {
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
