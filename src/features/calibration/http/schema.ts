import { Type } from '@sinclair/typebox';
import { oneOf, uuid } from '../../../engine/schema/parts.js';
import { queryOf } from '../../../http/query.js';
import { checkTimeRange, timeRange } from '../../../http/time-range.js';
import { judge_id, project_id } from '../../../http/parameters.js';

export { JudgeParams } from '../../../http/parameters.js';

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

export const reportQuery = queryOf(ReportQuery, {
  check: checkTimeRange,
  to: ({ start_date = null, end_date = null, versions }) => ({ start: start_date, end: end_date, versions }),
});
