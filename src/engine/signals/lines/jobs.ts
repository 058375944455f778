import { defineLines } from '../line.js';

/** Work that goes on behind requests. */
export const jobLines = defineLines({
  jobFinished: {
    level: 'info',
    message: 'Job ended',
    when: 'A trial, an optimization or a recalculation of costs ended, by `result`.',
  },
  jobFailed: {
    level: 'error',
    message: 'Job failed with an internal error',
    when: 'A background job failed because of a bug, or made no progress in 20 attempts.',
    action: 'Check the error: if a store did not respond, start the job again; otherwise report it with this line',
  },
  jobRetried: {
    level: 'warn',
    message: 'Job interrupted; retrying',
    when: 'A store did not respond to a background job, which resumes where it was.',
    action: 'Nothing; if it repeats, check /readyz',
  },
  backfillBegins: {
    level: 'info',
    message: 'Backfilling columns of spans from before an upgrade',
    when: 'At the first start after an upgrade, if such spans remain. Runs in the background.',
  },
  backfillFailed: {
    level: 'warn',
    message: 'Could not backfill columns of older spans; retrying',
    when: 'A store did not respond. Until the backfill is done, these columns do not find older spans.',
    action: 'Nothing; if it repeats, check /readyz and disk space',
  },
  backfillFinished: {
    level: 'info',
    message: 'Backfilled columns of spans from before an upgrade',
    when: 'All spans from before an upgrade have the new columns.',
  },
  retentionFailed: {
    level: 'warn',
    message: 'Could not remove expired traces; retrying',
    when: 'A store did not respond, or the disk had no space for a deletion.',
    action: 'Nothing; if it repeats, check /readyz and disk space',
  },
  retentionFinished: {
    level: 'info',
    message: 'Expired traces removed',
    when: 'Retention finished for a project and removed something.',
  },
  clockAhead: {
    level: 'warn',
    message: 'The clock is ahead of the time that the server can account for; retention is paused',
    when: 'The clock jumped ahead by more than a day (`ahead_s`), or the server was off for longer. Retention resumes after `waits_s`, or immediately when you correct or trust the clock.',
    action:
      'Compare the clock of the machine with the actual time. If it is wrong, correct it; if it is right, as after a long stop, run npm run admin -- trust-clock',
  },
  clockBehind: {
    level: 'warn',
    message: 'The clock is behind a time that it showed before; retention keeps traces longer',
    when: 'The clock was set back by more than an hour (`behind_s`), or is wrong now.',
    action:
      'Compare the clock of the machine with the actual time. If it is wrong, correct it; if it is right, it was wrong before: run npm run admin -- trust-clock',
  },
  clockRight: {
    level: 'info',
    message: 'The clock is trusted again',
    when: 'After clockAhead or clockBehind: the clock was corrected, trusted, or the wait ended.',
  },
});
