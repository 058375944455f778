import { defineLines } from '../line.js';

/** Work that goes on behind requests. */
export const jobLines = defineLines({
  jobFinished: {
    level: 'info',
    message: 'Job ended',
    when: 'A trial, an optimization or a cost recalculation ended, with `result`.',
  },
  jobFailed: {
    level: 'error',
    message: 'Job failed with an internal error',
    when: 'A background job ended because of a defect, or made no progress in `JOB_MAX_ATTEMPTS` attempts.',
    action: 'Check the error: if a store did not respond, start the job again; otherwise report it with this line',
  },
  jobRetried: {
    level: 'warn',
    message: 'Job could not go on; it will be tried again',
    when: 'A store did not respond to a background job, which resumes later.',
    action: 'Nothing, unless it repeats: then check /readyz',
  },
  backfillBegins: {
    level: 'info',
    message: 'Columns of spans from before an upgrade are filled in, in the background',
    when: 'At the first start after an upgrade, while there are such spans.',
  },
  backfillFailed: {
    level: 'warn',
    message: 'Columns of older spans could not be filled in; it will be tried again',
    when: 'A store did not respond. Until it is done, filters by these columns do not find older spans.',
    action: 'Nothing, unless it repeats: then check /readyz and disk space',
  },
  backfillFinished: {
    level: 'info',
    message: 'Columns of spans from before an upgrade are filled in',
    when: 'All spans from before an upgrade have the new columns.',
  },
  retentionFailed: {
    level: 'warn',
    message: 'Traces older than their project keeps them could not be removed; it will be tried again',
    when: 'A store did not respond, or the disk had no space for a deletion.',
    action: 'Nothing, unless it repeats: then check /readyz and disk space',
  },
  retentionFinished: {
    level: 'info',
    message: 'Traces older than their project keeps them removed',
    when: 'Retention has completed for a project, and removed something.',
  },
  clockAhead: {
    level: 'warn',
    message: 'The clock is ahead of the time that the server can account for; retention removes nothing',
    when:
      'The clock jumped ahead by more than a day (`ahead_s`), or the server was off for longer. Retention resumes ' +
      'after `waits_s`, or immediately when the clock is set or trusted.',
    action:
      'Check the clock of the machine. If it is wrong, set it; if it is right, for example after a long stop: npm ' +
      'run admin -- trust-clock',
  },
  clockBehind: {
    level: 'warn',
    message: 'The clock is behind a time that it showed before; retention keeps traces for longer',
    when: 'The clock was set back by more than an hour (`behind_s`), or is wrong now.',
    action:
      'Check the clock of the machine. If it is wrong, set it; if it is right, it was wrong before: npm run admin ' +
      '-- trust-clock',
  },
  clockRight: {
    level: 'info',
    message: 'The clock is believed again',
    when: 'After clockAhead or clockBehind: the clock was set or trusted, or the wait is over.',
  },
});
