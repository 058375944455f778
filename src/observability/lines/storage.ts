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
    message: 'Embedded ClickHouse lost; it is restarted',
    when: 'The engine process crashed, hung or was killed; `reason` says how. Requests are answered 503 meanwhile; nothing acknowledged is lost.',
    action:
      "Nothing if it is back at once. If it repeats: the system's memory (dmesg names what it killed), ENGINE_MEMORY_MB, and the lines of the engine before this one",
  },
  engineNotStarted: {
    level: 'error',
    message: 'Embedded ClickHouse does not start; it will be tried again',
    when: 'A restart of the engine failed; the next follows after at most 5 seconds.',
    action: 'Act on the reason: room on the disk, memory, permissions of DATA_DIR/clickhouse. Else restart the server',
  },
  engineStopped: { level: 'debug', message: 'Embedded ClickHouse stopped', when: 'When the server stops.' },
  engineSays: {
    level: 'warn',
    message: 'Embedded ClickHouse says',
    when: 'The engine wrote to its standard output or error: its last words before a crash, mostly.',
    action: 'Read it with the line of the engine that follows; report it if the engine was lost for no other reason',
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
    when: 'The write-ahead log, or ClickHouse where there is none, failed. The server answers these requests with 503 and acknowledges nothing of them.',
    action: 'Act on the error: space on the disk, memory, the address of ClickHouse. Clients that retry lose nothing',
  },
  spansFlushed: {
    level: 'debug',
    message: 'Acknowledged spans stored in ClickHouse',
    when: 'After each insert from the write-ahead log.',
  },
  flushFailed: {
    level: 'warn',
    message: 'Acknowledged spans could not be stored in ClickHouse; the server tries again',
    when: 'An insert failed. The spans are safe in the write-ahead log; reads of their projects answer 503 until ClickHouse takes them.',
    action: 'Act on the error: space on the disk, memory, the address of ClickHouse. Nothing is lost',
  },
  writeQuarantined: {
    level: 'error',
    message: 'ClickHouse cannot read the rows of an acknowledged request; the server keeps them in a file',
    when: 'A defect of Spanhouse: the rows of one request do not fit the tables.',
    action: 'Report it with the file, which nothing removes',
  },
  logRecovered: {
    level: 'info',
    message: 'The write-ahead log holds spans of the last run; the server stores them now',
    when: 'At a start after a crash, or after a stop while ClickHouse was away.',
  },
  leaseTaken: {
    level: 'info',
    message: 'Lease on the database taken',
    when: 'With `CLICKHOUSE_URL`: this server alone writes to the database from now on.',
  },
  leaseRenewalFailed: {
    level: 'warn',
    message: 'Lease on the database not renewed',
    when: 'A renewal failed and is repeated; writes are refused once the lease runs out (`CLICKHOUSE_LEASE_SECONDS`).',
    action: 'See that ClickHouse answers quickly from here; with a slow network, raise CLICKHOUSE_LEASE_SECONDS',
  },
  leaseLost: {
    level: 'error',
    message: 'Lease on the database lost',
    when: 'Another server has taken the database over; this one ends.',
    action: 'Run one server on a database: stop the other, or give this one another CLICKHOUSE_DATABASE',
  },
  replicasUnknown: {
    level: 'warn',
    message: 'Versions of the ClickHouse replicas are not checked, as they cannot be asked',
    when: 'At the start, with `CLICKHOUSE_CLUSTER`.',
    action: 'See that every replica runs the version that README asks for, and let the user read system.clusters',
  },
  migrationBegins: {
    level: 'info',
    message: 'ClickHouse migration begins',
    when: 'At the first start after an upgrade, for a migration that rewrites nothing stored.',
  },
  migrationRewrites: {
    level: 'warn',
    message: 'ClickHouse migration begins, which rewrites stored rows',
    when: 'At the first start after an upgrade, with the number of rows. It takes a few seconds per million of them.',
    action:
      'Wait: the server is ready when it is through, and goes on with it at the next start when it is stopped. There is no way back but a backup made before',
  },
  metadataMigrationBegins: {
    level: 'info',
    message: 'The metadata are changed for this version; a copy of them as they were is kept',
    when: 'At the first start after an upgrade. `copy` is the file; the last two are kept.',
  },
  queryFailed: {
    level: 'debug',
    message: 'List query failed',
    when: 'ClickHouse refused the query of a list, with its error in full. Of the request, `requestRefused` or `requestFailed` tells.',
  },
  rollupFinished: {
    level: 'debug',
    message: 'Figures of traces recomputed',
    when: 'After each rollup round.',
  },
  rollupFailed: {
    level: 'warn',
    message: 'Figures of traces could not be recomputed',
    when: 'A rollup round failed and is repeated; lists compute the figures themselves meanwhile, and take longer.',
    action:
      'If it repeats: act on the error (memory: ENGINE_MEMORY_MB; room on the disk). Writes wait when too much is unsettled',
  },
  tagsSetAside: {
    level: 'warn',
    message:
      'A trace or session is too large to be recomputed as a whole: its figures are right, its tags are left out',
    when: 'The tags of all its spans do not fit the memory of one rollup; answers name it in `X-Not-Current`.',
    action: 'Raise ENGINE_MEMORY_MB and restart, or have the client begin new traces earlier',
  },
  figuresSetAside: {
    level: 'warn',
    message: 'A trace or session is too large to be recomputed as a whole: its figures stay as they were',
    when: 'Its spans do not fit the memory of one rollup, even without tags; answers name it in `X-Not-Current`.',
    action: 'Raise ENGINE_MEMORY_MB and restart, or delete the trace; have the client begin new traces earlier',
  },
  setAsideEnded: {
    level: 'info',
    message: 'A trace or session that was too large to be recomputed is current again',
    when: 'It was recomputed as a whole, or deleted.',
  },
  wordsIndexed: { level: 'debug', message: 'Words of spans indexed', when: 'After each round of the search index.' },
  wordIndexFailed: {
    level: 'warn',
    message: 'Words of spans could not be indexed; it will be tried again, and searches take longer meanwhile',
    when: 'ClickHouse did not answer or met a limit. Searches find everything all the same.',
    action: 'If it repeats: act on the error, and see /readyz',
  },
  purgeFinished: {
    level: 'info',
    message: 'Replaced and deleted spans purged',
    when: 'Versions that no read needs any more were removed.',
  },
  purgeFailed: {
    level: 'warn',
    message: 'Replaced and deleted spans could not be purged; it will be tried again',
    when: 'They take room on the disk until it succeeds; no answer shows them.',
    action: 'If it repeats: act on the error, and see /readyz and the room on the disk',
  },
  projectDeleted: { level: 'info', message: 'Project deleted', when: 'A project and everything in it is gone.' },
  spansDeleted: {
    level: 'debug',
    message: 'Spans deleted',
    when: 'A deletion of spans, a trace or a session is complete.',
  },
  deletionFailed: {
    level: 'warn',
    message: 'Deletion failed; it will be tried again',
    when: 'A step of a deletion failed, after which it goes on where it was; what is deleted is shown to nobody.',
    action: 'If it repeats: act on the error, and see /readyz',
  },
});
