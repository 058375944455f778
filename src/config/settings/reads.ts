import { whole } from './kinds.js';

/** Reads and answers. */
export const readSettings = {
  READ_TIMEOUT_SECONDS: whole({
    default: 30,
    minimum: 1,
    maximum: 3600,
    description: 'Longest time that one query to ClickHouse may take; a longer one is answered 503.',
  }),
  READ_MAX_RESULT_MB: whole({
    default: 256,
    minimum: 1,
    maximum: 65_536,
    description: 'Largest result of one query to ClickHouse; a larger one is answered 503.',
  }),
  READS_AT_ONCE: whole({
    default: 6,
    minimum: 2,
    maximum: 1000,
    description:
      'Most queries to ClickHouse at once; the embedded ClickHouse works on 6 at a time. Waiting projects are served in ' +
      'turn.',
  }),
  READS_PER_PROJECT: whole({
    default: 4,
    minimum: 1,
    maximum: 1000,
    description: 'Most queries counted by `READS_AT_ONCE` for one project; at most one fewer than that.',
  }),
  ANSWERS_AT_ONCE: whole({
    default: 32,
    minimum: 2,
    maximum: 10_000,
    description:
      'Most answers with lists of spans, traces or sessions at once, each until its client has it whole: one may hold up to ' +
      '`READ_MAX_RESULT_MB` in memory. Waiting projects are served in turn.',
  }),
  ANSWERS_PER_PROJECT: whole({
    default: 8,
    minimum: 1,
    maximum: 10_000,
    description: 'Most answers counted by `ANSWERS_AT_ONCE` for one project; at most one fewer than that.',
  }),
  READ_WAIT_SECONDS: whole({
    default: 10,
    minimum: 1,
    maximum: 3600,
    description:
      'Longest time that a read waits for its turn when `READS_AT_ONCE`, `READS_PER_PROJECT`, `ANSWERS_AT_ONCE` or `ANSWERS_PER_PROJECT` is reached; then it is answered 429 with `Retry-After`.',
  }),
  READS_WAITING_PER_PROJECT: whole({
    default: 256,
    minimum: 1,
    maximum: 100_000,
    description: 'Most reads of one project that wait for their turn; more are answered 429 at once.',
  }),
  ANSWER_MIN_BYTES_PER_SECOND: whole({
    default: 16_384,
    minimum: 0,
    maximum: 1_073_741_824,
    description: 'Lowest rate at which a client may receive an answer; a slower one is cut off. 0: no limit.',
  }),
  ANSWER_WINDOW_SECONDS: whole({
    default: 10,
    minimum: 1,
    maximum: 600,
    description:
      'Seconds over which the rate of `ANSWER_MIN_BYTES_PER_SECOND` is measured; the first ones are not checked.',
  }),
};
