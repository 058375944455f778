import { defineLines } from '../line.js';

/** ClickHouse, its embedded engine, and what is done to stored spans. */
export const storageLines = defineLines({
  engineReady: {
    level: 'info',
    message: 'Embedded ClickHouse ready',
    when: 'At startup, and after each restart of the engine.',
  },
  engineLost: {
    level: 'error',
    message: 'Embedded ClickHouse lost; it is restarted',
    when:
      'The engine process crashed, hung or was killed; `reason` says how. Meanwhile, reads get 503; nothing ' +
      'acknowledged is lost.',
    action:
      "Nothing if it is back at once. If it repeats: check the system's memory (dmesg names what it killed), " +
      "ENGINE_MEMORY_MB, and the engine's lines before this one",
  },
  engineNotStarted: {
    level: 'error',
    message: 'Embedded ClickHouse does not start; it will be tried again',
    when: 'A restart of the engine failed; the next one follows after at most 5 seconds.',
    action: 'Act on the reason: disk space, memory, permissions of DATA_DIR/clickhouse. Otherwise, restart the server',
  },
  engineStopped: { level: 'debug', message: 'Embedded ClickHouse stopped', when: 'When the server stops.' },
  engineSays: {
    level: 'warn',
    message: 'Embedded ClickHouse says',
    when: 'The engine wrote to its standard output or error, usually its last output before a crash.',
    action: 'Read it with the next line of the engine; report it if the engine was lost for no other reason',
  },
  engineNote: {
    level: 'debug',
    message: 'Supervisor of the embedded ClickHouse',
    when: 'Each step of starting and restarting the engine, as `what`.',
  },
  spansCommitted: { level: 'debug', message: 'Spans committed', when: 'After each group commit.' },
  commitFailed: {
    level: 'warn',
    message: 'Spans could not be committed',
    when:
      'The write-ahead log failed, or ClickHouse if there is none. The server answers these requests with 503 and ' +
      'acknowledges nothing of them.',
    action: 'Act on the error: disk space, memory, the address of ClickHouse. Clients that retry lose nothing',
  },
  spansFlushed: {
    level: 'debug',
    message: 'Acknowledged spans stored in ClickHouse',
    when: 'After each insert from the write-ahead log.',
  },
  flushFailed: {
    level: 'warn',
    message: 'Acknowledged spans could not be stored in ClickHouse; the server tries again',
    when:
      'An insert failed. The spans are safe in the write-ahead log; reads of their projects get 503 until ' +
      'ClickHouse accepts them.',
    action: 'Act on the error: disk space, memory, the address of ClickHouse. Nothing is lost',
  },
  writeQuarantined: {
    level: 'error',
    message: 'ClickHouse cannot read the rows of an acknowledged request; the server keeps them in a file',
    when: 'A defect of Spanhouse: the rows of one request do not fit the tables.',
    action: 'Report it with the file, which is never removed',
  },
  logRecovered: {
    level: 'info',
    message: 'The write-ahead log holds spans of the last run; the server stores them now',
    when: 'At a start after a crash, or after a stop while ClickHouse was unreachable.',
  },
  leaseTaken: {
    level: 'info',
    message: 'Lease on the database taken',
    when: 'With `CLICKHOUSE_URL`: from now on, only this server writes to the database.',
  },
  leaseRenewalFailed: {
    level: 'warn',
    message: 'Lease on the database not renewed',
    when: 'A renewal failed and is retried; writes are refused once the lease expires (`CLICKHOUSE_LEASE_SECONDS`).',
    action: 'Check that ClickHouse responds quickly from here; with a slow network, raise CLICKHOUSE_LEASE_SECONDS',
  },
  leaseLost: {
    level: 'error',
    message: 'Lease on the database lost',
    when: 'Another server has taken over the database; this one ends.',
    action: 'Run one server on a database: stop the other, or give this one another CLICKHOUSE_DATABASE',
  },
  replicasUnknown: {
    level: 'warn',
    message: 'Versions of the ClickHouse replicas are not checked, as they cannot be asked',
    when: 'At startup, with `CLICKHOUSE_CLUSTER`.',
    action:
      'Check that every replica runs the version that README requires, and allow the user to read system.clusters',
  },
  migrationBegins: {
    level: 'info',
    message: 'ClickHouse migration begins',
    when: 'At the first start after an upgrade, for a migration that rewrites no stored data.',
  },
  migrationRewrites: {
    level: 'warn',
    message: 'ClickHouse migration begins, which rewrites stored rows',
    when: 'At the first start after an upgrade, with the number of rows. It takes a few seconds per million of them.',
    action:
      'Wait: the server is ready when it is complete, and resumes it at the next start if it is stopped. Only a ' +
      'backup from before lets you go back',
  },
  metadataMigrationBegins: {
    level: 'info',
    message: 'The metadata are changed for this version; a copy of them as they were is kept',
    when: 'At the first start after an upgrade. `copy` is the file; the last two are kept.',
  },
  queryFailed: {
    level: 'debug',
    message: 'List query failed',
    when:
      'ClickHouse refused the query of a list; the line has the full error. `requestRefused` or `requestFailed` ' +
      'reports the request.',
  },
  rollupFinished: {
    level: 'debug',
    message: 'Figures of traces recomputed',
    when: 'After each rollup round.',
  },
  rollupFailed: {
    level: 'warn',
    message: 'Figures of traces could not be recomputed',
    when: 'A rollup round failed and is retried; meanwhile, lists compute the figures themselves and take longer.',
    action:
      'If it repeats: act on the error (memory: ENGINE_MEMORY_MB; disk space). Writes wait if too many rollups are ' +
      'pending',
  },
  tagsSetAside: {
    level: 'warn',
    message:
      'A trace or session is too large to be recomputed as a whole: its figures are right, its tags are left out',
    when: 'The tags of all its spans do not fit into the memory of one rollup; responses name it in `X-Not-Current`.',
    action: 'Raise ENGINE_MEMORY_MB and restart, or have the client start new traces earlier',
  },
  figuresSetAside: {
    level: 'warn',
    message: 'A trace or session is too large to be recomputed as a whole: its figures stay as they were',
    when: 'Its spans do not fit into the memory of one rollup, even without tags; responses name it in `X-Not-Current`.',
    action: 'Raise ENGINE_MEMORY_MB and restart, or delete the trace; have the client start new traces earlier',
  },
  setAsideEnded: {
    level: 'info',
    message: 'A trace or session that was too large to be recomputed is current again',
    when: 'It was recomputed completely, or deleted.',
  },
  wordsIndexed: { level: 'debug', message: 'Words of spans indexed', when: 'After each round of the search index.' },
  wordIndexFailed: {
    level: 'warn',
    message: 'Words of spans could not be indexed; it will be tried again, and searches take longer meanwhile',
    when: 'ClickHouse did not respond or reached a limit. Searches still find everything.',
    action: 'If it repeats: act on the error, and check /readyz',
  },
  purgeFinished: {
    level: 'info',
    message: 'Replaced and deleted spans purged',
    when: 'Versions that no read needs anymore were removed.',
  },
  purgeFailed: {
    level: 'warn',
    message: 'Replaced and deleted spans could not be purged; it will be tried again',
    when: 'They use disk space until it succeeds; no response contains them.',
    action: 'If it repeats: act on the error, and check /readyz and disk space',
  },
  projectDeleted: { level: 'info', message: 'Project deleted', when: 'A project and everything in it is deleted.' },
  spansDeleted: {
    level: 'debug',
    message: 'Spans deleted',
    when: 'A deletion of spans, a trace or a session is complete.',
  },
  deletionFailed: {
    level: 'warn',
    message: 'Deletion failed; it will be tried again',
    when: 'A step of a deletion failed; the deletion resumes from there. Deleted data is no longer visible.',
    action: 'If it repeats: act on the error, and check /readyz',
  },
});
