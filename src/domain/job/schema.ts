import { Type } from '@sinclair/typebox';
import { count, orNull, time, uuid } from '../schema/parts.js';
import { JOB_STATES, type JobState } from './job.js';

/** Fields of a job's progress. */
export const jobFields = {
  id: uuid('Id of the job.'),
  status: Type.Unsafe<JobState>({
    type: 'string',
    enum: [...JOB_STATES],
    description: 'How far it is. A job goes on after a restart.',
  }),
  phase: orNull(Type.String({ description: 'What it is at; null unless it is running.' })),
  total: orNull(count('How many steps it has; null before that is known.')),
  done: count('How many of them are done.'),
  error: orNull(Type.String({ description: 'Why it failed.' })),
  created_at: time('When it was asked for.'),
  finished_at: orNull(time('When it ended.')),
};
