import { whole } from './kinds.js';

/** Reads and answers. */
export const readSettings = {
  READ_TIMEOUT_SECONDS: whole({
    default: 30,
    minimum: 1,
    maximum: 3600,
    description: 'Maximum duration of one ClickHouse query. Longer queries get 503.',
  }),
  READ_MAX_RESULT_MB: whole({
    default: 256,
    minimum: 1,
    maximum: 65_536,
    description: 'Maximum size of the result of one ClickHouse query. Larger results get 503.',
  }),
  READS_AT_ONCE: whole({
    default: 6,
    minimum: 2,
    maximum: 1000,
    description:
      'Maximum number of concurrent ClickHouse queries. The embedded ClickHouse runs 6 at a time. Waiting projects ' +
      'are served in turn.',
  }),
  READS_PER_PROJECT: whole({
    default: 4,
    minimum: 1,
    maximum: 1000,
    description: 'Maximum number of the queries in `READS_AT_ONCE` for one project, and at most one fewer than that.',
  }),
  ANSWERS_AT_ONCE: whole({
    default: 32,
    minimum: 2,
    maximum: 10_000,
    description:
      'Maximum number of concurrent responses with lists of spans, traces or sessions. Each counts until its client ' +
      'has received it, and may hold up to `READ_MAX_RESULT_MB` in memory. Waiting projects are served in turn.',
  }),
  ANSWERS_PER_PROJECT: whole({
    default: 8,
    minimum: 1,
    maximum: 10_000,
    description:
      'Maximum number of the responses in `ANSWERS_AT_ONCE` for one project, and at most one fewer than that.',
  }),
  READ_WAIT_SECONDS: whole({
    default: 10,
    minimum: 1,
    maximum: 3600,
    description:
      'Maximum time that a read waits for its turn when `READS_AT_ONCE`, `READS_PER_PROJECT`, `ANSWERS_AT_ONCE` or ' +
      '`ANSWERS_PER_PROJECT` is reached. After that, it gets 429 with `Retry-After`.',
  }),
  READS_WAITING_PER_PROJECT: whole({
    default: 256,
    minimum: 1,
    maximum: 100_000,
    description: 'Maximum number of waiting reads of one project. Further reads immediately get 429.',
  }),
  ANSWER_MIN_BYTES_PER_SECOND: whole({
    default: 16_384,
    minimum: 0,
    maximum: 1_073_741_824,
    description:
      'Minimum rate at which a client must receive a response. The server disconnects slower clients. 0: no limit.',
  }),
  ANSWER_WINDOW_SECONDS: whole({
    default: 10,
    minimum: 1,
    maximum: 600,
    description:
      'Seconds over which the rate of `ANSWER_MIN_BYTES_PER_SECOND` is measured. The first period is not checked.',
  }),
};
