import { Type } from '@sinclair/typebox';
import { count, orNull, time, uuid } from '../schema/parts.js';
import { JOB_STATES, type JobState } from './job.js';

/** Fields of a job's progress. */
export const jobFields = {
  id: uuid('Id of the job.'),
  status: Type.Unsafe<JobState>({
    type: 'string',
    enum: [...JOB_STATES],
    description: 'State of the job. A job resumes after a restart of the server.',
  }),
  phase: orNull(Type.String({ description: 'Current step of the job; null unless it is running.' })),
  total: orNull(count('Number of steps of the job; null until known.')),
  done: count('Number of completed steps.'),
  error: orNull(Type.String({ description: 'Why the job failed; null unless it did.' })),
  created_at: time('When the job was queued.'),
  finished_at: orNull(time('When the job ended; null before that.')),
};
