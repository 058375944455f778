import { Type } from '@sinclair/typebox';
import { uuid } from '../../../../domain/schema/parts.js';
import { judge_id, project_id } from '../parameters.js';

export { JudgeParams } from '../parameters.js';

/** How the documentation groups these routes. */
export const TAG = 'Calibration';

const job_id = uuid('Id of the job.');

export const JobParams = Type.Object({ project_id, judge_id, job_id });

export const ReportQuery = Type.Object({
  start_date: Type.Optional(
    Type.String({ description: 'Only corrections given then or later: ISO 8601, or Unix seconds or milliseconds.' }),
  ),
  end_date: Type.Optional(
    Type.String({ description: 'Only corrections given then or earlier; a date alone means its whole day.' }),
  ),
  versions: Type.Unsafe<'steps' | 'each'>({
    type: 'string',
    enum: ['steps', 'each'],
    default: 'steps',
    description:
      'steps: a version of the judge goes on until the instruction changes or the revision of its examples reaches 1, 5, ' +
      '10, 20, 50, 100, …; each: every single revision is one.',
  }),
});
