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
};
