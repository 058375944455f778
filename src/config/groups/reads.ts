import { MEGABYTE, type Limits } from '../limits.js';
import type { Settings } from '../settings.js';

/** What reads may take, each and together. */
export function readGroup(settings: Settings, limits: Limits) {
  return {
    read: {
      timeoutSeconds: settings.READ_TIMEOUT_SECONDS,
      maxResultBytes: settings.READ_MAX_RESULT_MB * MEGABYTE,
    },
    /** Statements that read for projects. */
    reads: turnLimits(limits, settings.READS_AT_ONCE, Math.ceil(settings.READS_AT_ONCE * limits.readsShareOfProject)),
    /** Lists, until the client has them. */
    answers: turnLimits(limits, limits.answersAtOnce, limits.answersOfProject),
    /** Answers that are put together in memory. */
    gathered: turnLimits(limits, limits.gatheredAtOnce, limits.gatheredOfProject),
    delivery: {
      minBytesPerSecond: limits.answerMinBytesPerSecond,
      rateWindowMs: limits.answerWindowMs,
    },
  };
}

function turnLimits({ readWaitMs, readsWaitingOfProject }: Limits, atOnce: number, perProject: number) {
  return {
    atOnce,
    perParty: Math.min(perProject, atOnce - 1),
    maxWaitMs: readWaitMs,
    maxWaiting: readsWaitingOfProject,
  };
}
