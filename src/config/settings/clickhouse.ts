import { Type } from '@sinclair/typebox';
import { choice, IDENTIFIER, text, whole } from './kinds.js';

/** A ClickHouse of the operator. */
export const clickHouseSettings = {
  CLICKHOUSE_URL: Type.Optional(
    text({
      // A path would be taken for the name of a database.
      pattern: '^https?://[^\\s/?#]+/?$',
      must: "be the http:// or https:// URL of ClickHouse's HTTP port without a path, such as http://localhost:8123",
      description:
        'HTTP URL of one external ClickHouse server, not of a load balancer. Unset: ClickHouse runs embedded.',
    }),
  ),
  CLICKHOUSE_USER: text({ default: 'default', description: 'User at `CLICKHOUSE_URL`.' }),
  CLICKHOUSE_PASSWORD: Type.Optional(text({ secret: true, description: 'Password at `CLICKHOUSE_URL`.' })),
  CLICKHOUSE_DATABASE: text({
    default: 'spanhouse',
    pattern: IDENTIFIER,
    must: 'be a name of letters, digits and underscores that does not start with a digit',
    description: 'Database at `CLICKHOUSE_URL`. It is created if it does not exist.',
  }),
  CLICKHOUSE_CLUSTER: Type.Optional(
    text({
      pattern: '^(\\{[a-z_]+\\}|[A-Za-z0-9_.-]+)$',
      must: 'be the name of a cluster as `system.clusters` shows it',
      description:
        'ClickHouse cluster on which to create replicated tables. Spanhouse writes to and reads from one of its ' +
        'servers. Requires `CLICKHOUSE_URL`.',
    }),
  ),
  CLICKHOUSE_LEASE_SECONDS: whole({
    default: 15,
    minimum: 2,
    maximum: 3600,
    description:
      'Duration of the lease by which only one Spanhouse server writes to the database at `CLICKHOUSE_URL`. The ' +
      'server renews it five times in this duration. If it expires, another server may take over.',
  }),
  CLICKHOUSE_WRITE_LOG: Type.Optional(
    choice(['true', 'false'], {
      description:
        'With `CLICKHOUSE_URL`: `true` acknowledges a write when it is in the write-ahead log of `DATA_DIR`, before ' +
        'ClickHouse has it. Writes are then fast and continue while ClickHouse is unreachable, but only a server with ' +
        'this `DATA_DIR` can take over.',
    }),
  ),
};
