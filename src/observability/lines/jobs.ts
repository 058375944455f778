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
    when: 'A background job ended by a defect, or made no progress in `JOB_MAX_ATTEMPTS` attempts.',
    action: 'Look at the error: if a store did not answer, start the job again; else report it with this line',
  },
  jobRetried: {
    level: 'warn',
    message: 'Job could not go on; it will be tried again',
    when: 'A store did not answer a background job, which goes on where it was.',
    action: 'Nothing, unless it repeats: then see /readyz',
  },
  backfillBegins: {
    level: 'info',
    message: 'Columns of spans from before an upgrade are filled in, in the background',
    when: 'At the first start after an upgrade, while such spans are left.',
  },
  backfillFailed: {
    level: 'warn',
    message: 'Columns of older spans could not be filled in; it will be tried again',
    when: 'A store did not answer. Until it is done, older spans are not found by these columns.',
    action: 'Nothing, unless it repeats: then see /readyz and the room on the disk',
  },
  backfillFinished: {
    level: 'info',
    message: 'Columns of spans from before an upgrade are filled in',
    when: 'All spans from before an upgrade have the new columns.',
  },
  retentionFailed: {
    level: 'warn',
    message: 'Traces older than their project keeps them could not be removed; it will be tried again',
    when: 'A store did not answer, or the disk had no room for a deletion.',
    action: 'Nothing, unless it repeats: then see /readyz and the room on the disk',
  },
  retentionFinished: {
    level: 'info',
    message: 'Traces older than their project keeps them removed',
    when: 'Retention is done with a project, and something of it went.',
  },
  clockAhead: {
    level: 'warn',
    message: 'The clock is ahead of the time that the server can account for; retention removes nothing',
    when: 'The clock jumped ahead by more than a day (`ahead_s`), or the server was off for longer. Retention goes on after `waits_s`, or at once when the clock is set or trusted.',
    action:
      'Compare the clock of the machine with the time. If it is wrong, set it; if it is right, as after a long stop: npm run admin -- trust-clock',
  },
  clockBehind: {
    level: 'warn',
    message: 'The clock is behind a time that it showed before; retention keeps traces for longer',
    when: 'The clock was set back by more than an hour (`behind_s`), or is wrong now.',
    action:
      'Compare the clock of the machine with the time. If it is wrong, set it; if it is right, it was wrong before: npm run admin -- trust-clock',
  },
  clockRight: {
    level: 'info',
    message: 'The clock is believed again',
    when: 'After clockAhead or clockBehind: the clock was set, trusted, or waited for.',
  },
});
