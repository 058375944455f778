import { Type } from '@sinclair/typebox';
import { DateTime } from 'luxon';
import { oneOf, uuid } from '../../../engine/schema/parts.js';
import { formatTimestamp } from '../../../engine/timestamp.js';
import { toJobRead } from '../../../http/job-presenters.js';
import { judge_id, JudgeParams, project_id } from '../../../http/parameters.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, jsonBody, listOf } from '../../../http/route.js';
import { checkTimeRange, timeRange } from '../../../http/time-range.js';
import type { CalibrationReport, CalibrationService, CorrectionsPerCall } from '../calibration-service.js';
import type { VersionAgreement, WeekAgreement } from '../report.js';
import { CalibrationRead, CalibrationTrialRead, CalibrationTrialSummaryRead, TrialInputBody } from '../schema.js';
import type { CalibrationTrial, CalibrationTrialHead } from '../trial.js';
import { calibrationSvg } from './calibration-svg.js';

/** How the documentation groups these routes. */
export const TAG = 'Calibration';

const job_id = uuid('Id of the job.');

export const JobParams = Type.Object({ project_id, judge_id, job_id });

const ReportQuery = Type.Object({
  ...timeRange('corrections given'),
  versions: oneOf(
    ['steps', 'each'],
    'steps: a new version of the judge starts when the instruction changes or the number of changes to its ' +
      'corrections reaches 1, 5, 10, 20, 50, 100, …; each: every change of the corrections starts one.',
    'steps',
  ),
});

const reportQuery = queryOf(ReportQuery, {
  check: checkTimeRange,
  to: ({ start_date = null, end_date = null, versions }) => ({ start: start_date, end: end_date, versions }),
});

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

export function calibrationRead(
  calibration: CalibrationReport,
  corrections_per_call: CorrectionsPerCall | null,
): CalibrationRead {
  return {
    ...calibration,
    corrections_per_call,
    by_week: calibration.by_week.map(weekRead),
    by_version: calibration.by_version.map(versionRead),
  };
}

function weekRead({ start, ...agreement }: WeekAgreement): CalibrationRead['by_week'][number] {
  return {
    week: DateTime.fromMillis(start / 1000, { zone: 'utc' }).toFormat("kkkk-'W'WW"),
    start: formatTimestamp(start),
    ...agreement,
  };
}

/** Members in the order of the schema. */
function versionRead({
  version,
  prompt_version,
  prompt_version_id,
  examples,
  began_at,
  evaluations,
  not_counted,
  ...agreement
}: VersionAgreement): CalibrationRead['by_version'][number] {
  return {
    version,
    prompt_version,
    prompt_version_id,
    examples,
    began_at: began_at === null ? null : formatTimestamp(began_at),
    evaluations,
    not_counted,
    ...agreement,
  };
}

function toTrialSummaryRead(trial: CalibrationTrialHead): CalibrationTrialSummaryRead {
  return { ...toJobRead(trial), ...trial.about };
}

function toTrialRead(trial: CalibrationTrial): CalibrationTrialRead {
  const { result } = trial;
  const summary = toTrialSummaryRead(trial);
  if (result === null) return { ...summary, result };
  const spans = result.spans.map(({ human, ...span }) => ({
    ...span,
    human: { evaluation_result: human.passed, ...human },
  }));
  return { ...summary, result: { ...result, spans } };
}
