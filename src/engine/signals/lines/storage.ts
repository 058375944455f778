import { defineLines } from '../line.js';

/** ClickHouse, its embedded engine, and what is done to stored spans. */
export const storageLines = defineLines({
  engineReady: {
    level: 'info',
    message: 'Embedded ClickHouse ready',
    when: 'At the start, and after each restart of the engine.',
  },
  engineLost: {
    level: 'error',
    message: 'Embedded ClickHouse lost; restarting it',
    when: 'The engine process crashed, hung or was killed; `reason` says how. Reads get 503 until it is back, writes go to the write-ahead log; no acknowledged data is lost.',
    action:
      "Nothing if it recovers immediately. If it repeats, check the system's memory (dmesg names what it killed), ENGINE_MEMORY_MB, and the engine lines before this one",
  },
  engineNotStarted: {
    level: 'error',
    message: 'Embedded ClickHouse failed to start; retrying',
    when: 'A restart of the engine failed; the next attempt follows within 5 seconds.',
    action: 'Fix the reason: disk space, memory, permissions of DATA_DIR/clickhouse. Otherwise restart the server',
  },
  engineStopped: { level: 'debug', message: 'Embedded ClickHouse stopped', when: 'When the server stops.' },
  engineSays: {
    level: 'warn',
    message: 'ClickHouse output',
    when: 'The engine wrote to its standard output or error, usually its last words before a crash.',
    action: 'Read it with the engine line that follows; report it if the engine was lost for no other reason',
  },
  engineNote: {
    level: 'debug',
    message: 'Embedded ClickHouse supervisor',
    when: 'Each step of starting and restarting the engine, as `what`.',
  },
  spansCommitted: { level: 'debug', message: 'Spans committed', when: 'After each group commit.' },
  commitFailed: {
    level: 'warn',
    message: 'Could not commit spans',
    when: 'The write-ahead log failed, or ClickHouse if there is none. The server rejects these requests with 503 and acknowledges nothing in them.',
    action: 'Fix the error: disk space, memory, the address of ClickHouse. Clients that retry lose nothing',
  },
  spansFlushed: {
    level: 'debug',
    message: 'Acknowledged spans stored in ClickHouse',
    when: 'After each insert from the write-ahead log.',
  },
  flushFailed: {
    level: 'warn',
    message: 'Could not store acknowledged spans in ClickHouse; retrying',
    when: 'An insert failed. The spans are safe in the write-ahead log; reads of their projects get 503 until ClickHouse accepts them.',
    action: 'Fix the error: disk space, memory, the address of ClickHouse. Nothing is lost',
  },
  writeQuarantined: {
    level: 'error',
    message: 'ClickHouse cannot read the rows of an acknowledged request; they are quarantined in a file',
    when: 'A bug in Spanhouse: the rows of one request do not fit the tables.',
    action: 'Report it with the file, which is kept',
  },
  logRecovered: {
    level: 'info',
    message: 'The write-ahead log holds spans of the last run; storing them now',
    when: 'At a start after a crash, or after a stop while ClickHouse was unavailable.',
  },
  leaseTaken: {
    level: 'info',
    message: 'Database lease acquired',
    when: 'With `CLICKHOUSE_URL`: from now on, only this server writes to the database.',
  },
  leaseRenewalFailed: {
    level: 'warn',
    message: 'Could not renew the database lease',
    when: 'A renewal failed and is retried; writes are rejected once the lease expires (`CLICKHOUSE_LEASE_SECONDS`).',
    action: 'Check that ClickHouse responds quickly from here; on a slow network, raise CLICKHOUSE_LEASE_SECONDS',
  },
  leaseLost: {
    level: 'error',
    message: 'Database lease lost',
    when: 'Another server has taken over the database; this one stops.',
    action: 'Run one server per database: stop the other, or set another CLICKHOUSE_DATABASE here',
  },
  replicasUnknown: {
    level: 'warn',
    message: 'Cannot query the ClickHouse replicas; their versions are not checked',
    when: 'At start, with `CLICKHOUSE_CLUSTER`.',
    action: 'Check that every replica runs the version that the README requires, and let the user read system.clusters',
  },
  migrationBegins: {
    level: 'info',
    message: 'ClickHouse migration started',
    when: 'At the first start after an upgrade, for a migration that rewrites no stored rows.',
  },
  migrationRewrites: {
    level: 'warn',
    message: 'ClickHouse migration started; it rewrites stored rows',
    when: 'At the first start after an upgrade, with the number of rows. It takes a few seconds per million rows.',
    action:
      'Wait: the server is ready when it finishes; if stopped, the next start resumes it. You can only go back with an earlier backup',
  },
  metadataMigrationBegins: {
    level: 'info',
    message: 'Migrating metadata for this version; a copy of the previous state is kept',
    when: 'At the first start after an upgrade. `copy` is the file; the last two are kept.',
  },
  queryFailed: {
    level: 'debug',
    message: 'List query failed',
    when: 'ClickHouse rejected a list query, with its full error. `requestRefused` or `requestFailed` covers the request.',
  },
  rollupFinished: {
    level: 'debug',
    message: 'Trace metrics recomputed',
    when: 'After each rollup round.',
  },
  rollupFailed: {
    level: 'warn',
    message: 'Could not recompute trace metrics',
    when: 'A rollup round failed and is retried; until then, lists compute the metrics themselves and take longer.',
    action: 'If it repeats: fix the error (memory: ENGINE_MEMORY_MB; disk space). Writes wait when too much is pending',
  },
  tagsSetAside: {
    level: 'warn',
    message: 'A trace or session is too large to recompute in full: its metrics are correct, its tags are left out',
    when: 'The tags of all its spans exceed the memory of one rollup; responses name it in `X-Not-Current`.',
    action: 'Raise ENGINE_MEMORY_MB and restart, or have the client start new traces sooner',
  },
  figuresSetAside: {
    level: 'warn',
    message: 'A trace or session is too large to recompute in full: its metrics stay as they were',
    when: 'Its spans exceed the memory of one rollup, even without tags; responses name it in `X-Not-Current`.',
    action: 'Raise ENGINE_MEMORY_MB and restart, or delete the trace; have the client start new traces sooner',
  },
  setAsideEnded: {
    level: 'info',
    message: 'A trace or session that was too large to recompute is current again',
    when: 'It was recomputed in full, or deleted.',
  },
  wordsIndexed: { level: 'debug', message: 'Span words indexed', when: 'After each round of the search index.' },
  wordIndexFailed: {
    level: 'warn',
    message: 'Could not index span words; retrying, searches are slower until then',
    when: 'ClickHouse did not respond or hit a limit. Searches still find everything.',
    action: 'If it repeats: fix the error, and check /readyz',
  },
  purgeFinished: {
    level: 'info',
    message: 'Replaced and deleted spans purged',
    when: 'Versions that no read needs anymore were removed.',
  },
  purgeFailed: {
    level: 'warn',
    message: 'Could not purge replaced and deleted spans; retrying',
    when: 'They use disk space until the purge succeeds; no response shows them.',
    action: 'If it repeats: fix the error, and check /readyz and disk space',
  },
  projectDeleted: { level: 'info', message: 'Project deleted', when: 'A project and everything in it was deleted.' },
  spansDeleted: {
    level: 'debug',
    message: 'Spans deleted',
    when: 'A deletion of spans, a trace or a session is complete.',
  },
  deletionFailed: {
    level: 'warn',
    message: 'Deletion failed; retrying',
    when: 'A step of a deletion failed; the deletion resumes there. Deleted data stays hidden.',
    action: 'If it repeats: fix the error, and check /readyz',
  },
});
