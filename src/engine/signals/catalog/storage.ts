import type { Metrics } from '../metrics.js';
import { catalogOf, measured, milliseconds, signal, type LineName, type LogEvent } from '../signal.js';
import { auditLines } from './audit.js';

/** A trace or session that cannot be recomputed as a whole, or can again. */
export interface RolledUpItem {
  readonly kind: 'trace' | 'session';
  readonly projectId: string;
  readonly id: string;
}

type SetAside = RolledUpItem & { readonly error: unknown };

function idOf({ kind, projectId, id }: RolledUpItem): Record<string, string> {
  return { project_id: projectId, [`${kind}_id`]: id };
}

interface Written {
  readonly rows: number;
  readonly bytes: number;
  /** Of spans that are deleted, and of nothing else. */
  readonly deletes: boolean;
  readonly seconds: number;
}

/** ClickHouse, and what is done to stored spans. */
export const storageCatalog = catalogOf({
  spansCommitted: signal<Written>({
    level: 'debug',
    message: 'Spans committed',
    when: 'After each group commit.',
    log: ({ rows, bytes, seconds }) => ({ rows, bytes, ms: milliseconds(seconds) }),
    count: ({ commitRows, commitBytes, commitDuration }, { rows, bytes, seconds }) => {
      commitRows.observe(rows);
      commitBytes.observe(bytes);
      commitDuration.observe(seconds);
    },
  }),
  commitFailed: signal<{ rows: number; error: unknown }>({
    level: 'warn',
    message: 'Could not commit spans',
    when: 'The write-ahead log failed, or ClickHouse if there is none. The server rejects these requests with 503 and acknowledges nothing in them.',
    action: 'Fix the error: disk space, memory, the address of ClickHouse. Clients that retry lose nothing',
    log: ({ rows, error }) => ({ rows, error }),
  }),
  spansFlushed: signal<Written>({
    level: 'debug',
    message: 'Acknowledged spans stored in ClickHouse',
    when: 'After each insert from the write-ahead log.',
    log: ({ rows, bytes, seconds }) => ({ rows, bytes, ms: milliseconds(seconds) }),
    count: ({ flushDuration, flushRows }, { rows, seconds }) => {
      flushDuration.observe(seconds);
      flushRows.observe(rows);
    },
  }),
  flushFailed: signal<{ rows: number; error: unknown }>({
    level: 'warn',
    message: 'Could not store acknowledged spans in ClickHouse; retrying',
    when: 'An insert failed. The spans are safe in the write-ahead log; reads of their projects get 503 until ClickHouse accepts them.',
    action: 'Fix the error: disk space, memory, the address of ClickHouse. Nothing is lost',
    log: ({ rows, error }) => ({ rows, error }),
    count: ({ flushFailures }) => flushFailures.inc(),
  }),
  writeQuarantined: signal<{ file: string; rows: number; error: unknown }>({
    level: 'error',
    message: 'ClickHouse cannot read the rows of an acknowledged request; they are quarantined in a file',
    when: 'A bug in Spanhouse: the rows of one request do not fit the tables.',
    action: 'Report it with the file, which is kept',
    log: ({ file, rows, error }) => ({ file, rows, error }),
  }),
  logRecovered: signal<{ rows: number; bytes: number }>({
    level: 'info',
    message: 'The write-ahead log holds spans of the last run; storing them now',
    when: 'At a start after a crash, or after a stop while ClickHouse was unavailable.',
    log: ({ rows, bytes }) => ({ rows, bytes }),
  }),
  leaseTaken: signal<{ epoch: number; seconds: number }>({
    level: 'info',
    message: 'Database lease acquired',
    when: 'With `CLICKHOUSE_URL`: from now on, only this server writes to the database.',
    log: ({ epoch, seconds }) => ({ epoch, ms: milliseconds(seconds) }),
    count: ({ leaseHeld }) => leaseHeld.set(1),
  }),
  leaseRenewalFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not renew the database lease',
    when: 'A renewal failed and is retried; writes are rejected once the lease expires (`CLICKHOUSE_LEASE_SECONDS`).',
    action: 'Check that ClickHouse responds quickly from here; on a slow network, raise CLICKHOUSE_LEASE_SECONDS',
    log: ({ error }) => ({ error }),
    count: ({ leaseRenewalsFailed }) => leaseRenewalsFailed.inc(),
  }),
  leaseLost: signal<{ reason: string }>({
    level: 'error',
    message: 'Database lease lost',
    when: 'Another server has taken over the database; this one stops.',
    action: 'Run one server per database: stop the other, or set another CLICKHOUSE_DATABASE here',
    log: ({ reason }) => ({ reason }),
    count: ({ leaseHeld }) => leaseHeld.set(0),
  }),
  replicasUnknown: signal<{ cluster: string | null; error: unknown }>({
    level: 'warn',
    message: 'Cannot query the ClickHouse replicas; their versions are not checked',
    when: 'At start, with `CLICKHOUSE_CLUSTER`.',
    action: 'Check that every replica runs the version that the README requires, and let the user read system.clusters',
    log: ({ cluster, error }) => ({ cluster, error }),
  }),
  migrationBegins: signal<{ version: number; name: string }>({
    level: 'info',
    message: 'ClickHouse migration started',
    when: 'At the first start after an upgrade, for a migration that rewrites no stored rows.',
    log: ({ version, name }) => ({ version, name }),
  }),
  migrationRewrites: signal<{ version: number; name: string; rewrites: readonly string[]; rows: number }>({
    level: 'warn',
    message: 'ClickHouse migration started; it rewrites stored rows',
    when: 'At the first start after an upgrade, with the number of rows. It takes a few seconds per million rows.',
    action:
      'Wait: the server is ready when it finishes; if stopped, the next start resumes it. You can only go back with an earlier backup',
    log: ({ version, name, rewrites, rows }) => ({ version, name, tables: rewrites.join(', '), rows }),
  }),
  metadataMigrationBegins: signal<{ versions: readonly number[]; copy: string }>({
    level: 'info',
    message: 'Migrating metadata for this version; a copy of the previous state is kept',
    when: 'At the first start after an upgrade. `copy` is the file; the last two are kept.',
    log: ({ versions, copy }) => ({ migrations: versions.join(', '), copy }),
  }),
  queryFailed: signal<{ list: string; seconds: number; error: unknown }>({
    level: 'debug',
    message: 'List query failed',
    when: 'ClickHouse rejected a list query, with its full error. `requestRefused` or `requestFailed` covers the request.',
    log: ({ list, seconds, error }) => ({ list, ms: milliseconds(seconds), error }),
    count: ({ queryDuration }, { list, seconds }) => queryDuration.observe({ list }, seconds),
  }),
  rollupFinished: signal<{ traces: number; seconds: number }>({
    level: 'debug',
    message: 'Trace metrics recomputed',
    when: 'After each rollup round.',
    log: ({ traces, seconds }) => ({ traces, ms: milliseconds(seconds) }),
    count: ({ rollupDuration }, { seconds }) => rollupDuration.observe(seconds),
  }),
  rollupFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not recompute trace metrics',
    when: 'A rollup round failed and is retried; until then, lists compute the metrics themselves and take longer.',
    action: 'If it repeats: fix the error (memory: ENGINE_MEMORY_MB; disk space). Writes wait when too much is pending',
    log: ({ error }) => ({ error }),
  }),
  tagsSetAside: signal<SetAside>({
    level: 'warn',
    message: 'A trace or session is too large to recompute in full: its metrics are correct, its tags are left out',
    when: 'The tags of all its spans exceed the memory of one rollup; responses name it in `X-Not-Current`.',
    action: 'Raise ENGINE_MEMORY_MB and restart, or have the client start new traces sooner',
    log: ({ error, ...item }) => ({ ...idOf(item), error }),
    count: ({ rollupSetAside }, { kind }) => rollupSetAside.inc({ kind }),
  }),
  figuresSetAside: signal<SetAside>({
    level: 'warn',
    message: 'A trace or session is too large to recompute in full: its metrics stay as they were',
    when: 'Its spans exceed the memory of one rollup, even without tags; responses name it in `X-Not-Current`.',
    action: 'Raise ENGINE_MEMORY_MB and restart, or delete the trace; have the client start new traces sooner',
    log: ({ error, ...item }) => ({ ...idOf(item), error }),
    count: ({ rollupSetAside }, { kind }) => rollupSetAside.inc({ kind }),
  }),
  setAsideEnded: signal<RolledUpItem>({
    level: 'info',
    message: 'A trace or session that was too large to recompute is current again',
    when: 'It was recomputed in full, or deleted.',
    log: idOf,
  }),
  wordsIndexed: signal<{ spans: number; seconds: number }>({
    level: 'debug',
    message: 'Span words indexed',
    when: 'After each round of the search index.',
    log: ({ spans, seconds }) => ({ spans, ms: milliseconds(seconds) }),
    count: ({ wordsIndexedSpans }, { spans }) => wordsIndexedSpans.inc(spans),
  }),
  wordIndexFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not index span words; retrying, searches are slower until then',
    when: 'ClickHouse did not respond or hit a limit. Searches still find everything.',
    action: 'If it repeats: fix the error, and check /readyz',
    log: ({ error }) => ({ error }),
  }),
  purgeFinished: signal<{ versions: number; seconds: number }>({
    level: 'info',
    message: 'Replaced and deleted spans purged',
    when: 'Versions that no read needs anymore were removed.',
    log: ({ versions, seconds }) => ({ versions, ms: milliseconds(seconds) }),
    count: ({ purgedVersions }, { versions }) => purgedVersions.inc(versions),
  }),
  purgeFailed: signal<{ error: unknown }>({
    level: 'warn',
    message: 'Could not purge replaced and deleted spans; retrying',
    when: 'They use disk space until the purge succeeds; no response shows them.',
    action: 'If it repeats: fix the error, and check /readyz and disk space',
    log: ({ error }) => ({ error }),
  }),
  // Has the name of the line that says who ordered it, and so its words.
  projectDeleted: auditLines.projectDeleted,
  spansDeleted: {
    level: 'debug',
    message: 'Spans deleted',
    when: 'A deletion of spans, a trace or a session is complete.',
  },
  deletionFailed: signal<{ project: string; error: unknown }>({
    level: 'warn',
    message: 'Deletion failed; retrying',
    when: 'A step of a deletion failed; the deletion resumes there. Deleted data stays hidden.',
    action: 'If it repeats: fix the error, and check /readyz',
    log: ({ project, error }) => ({ project, error }),
  }),
  queueChanged: measured<{ rows: number; bytes: number }>(({ commitQueueRows, commitQueueBytes }, { rows, bytes }) => {
    commitQueueRows.set(rows);
    commitQueueBytes.set(bytes);
  }),
  /** What ClickHouse does not hold yet. */
  logChanged: measured<{ rows: number; bytes: number }>(({ logRows, logBytes }, { rows, bytes }) => {
    logRows.set(rows);
    logBytes.set(bytes);
  }),
  queryFinished: measured<{ list: string; seconds: number }>(({ queryDuration }, { list, seconds }) =>
    queryDuration.observe({ list }, seconds),
  ),
  rollupPending: measured<{ traces: number }>(({ rollupPendingTraces }, { traces }) => rollupPendingTraces.set(traces)),
  /** How many are set aside. */
  setAsideCounted: measured<{ traces: number; sessions: number }>((metrics, { traces, sessions }) => {
    metrics.rollupSetAsideTraces.set(traces);
    metrics.rollupSetAsideSessions.set(sessions);
  }),
});

interface FinishedDeletion {
  readonly what: 'spans' | 'project';
  readonly spans: number;
  readonly seconds: number;
}

export function deriveStorage(log: LogEvent<LineName<typeof storageCatalog>>, metrics: Metrics) {
  return {
    deletionFinished({ what, spans, seconds }: FinishedDeletion): void {
      metrics.deletions.inc({ what });
      const fields = { ms: milliseconds(seconds), ...(what === 'spans' ? { spans } : {}) };
      log(what === 'project' ? 'projectDeleted' : 'spansDeleted', fields);
    },
  };
}
