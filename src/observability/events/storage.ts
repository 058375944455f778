import type { DeletionObserver } from '../../domain/deletion/deletion-service.js';
import { say } from '../lines.js';
import type { Logger } from '../logger.js';
import type { Metrics } from '../metrics.js';
import { diskEvents, type DiskEvents } from './disks.js';
import type { Tracing } from '../tracing.js';
import { milliseconds } from './milliseconds.js';

export interface CommitObserver {
  /** A group is durable. `deletes`: of spans that are deleted, and of nothing else. */
  spansCommitted(commit: {
    readonly rows: number;
    readonly bytes: number;
    readonly deletes: boolean;
    readonly seconds: number;
  }): void;
  commitFailed(failure: { readonly rows: number; readonly error: unknown }): void;
  queueChanged(queue: { readonly rows: number; readonly bytes: number }): void;
  /** Absent when nothing is traced. */
  readonly tracing?: Tracing;
}

/** What happens between the acknowledgment of writes and their place in ClickHouse. */
export interface FlushObserver {
  flushed(flush: {
    readonly rows: number;
    readonly bytes: number;
    readonly deletes: boolean;
    readonly seconds: number;
  }): void;
  /** A flush failed and is repeated. */
  flushFailed(failure: { readonly rows: number; readonly error: unknown }): void;
  /** ClickHouse cannot read the rows of one acknowledged request: they stay in a file. */
  writeQuarantined(write: { readonly file: string; readonly rows: number; readonly error: unknown }): void;
  /** @param log what ClickHouse does not hold yet */
  logChanged(log: { readonly rows: number; readonly bytes: number }): void;
  /** A start found writes in the log that ClickHouse may not hold. */
  logRecovered(log: { readonly rows: number; readonly bytes: number }): void;
}

export interface MigrationObserver {
  /** A migration of ClickHouse begins, which rewrites so many stored rows of these tables. */
  migrationBegins(migration: {
    readonly version: number;
    readonly name: string;
    readonly rewrites: readonly string[];
    readonly rows: number;
  }): void;
}

export interface MetadataMigrationObserver {
  /** Migrations of SQLite begin. @param migrations its `copy`: where the database as it was is kept */
  metadataMigrationBegins(migrations: { readonly versions: readonly number[]; readonly copy: string }): void;
}

export interface QueryObserver {
  queryFinished(query: { readonly list: string; readonly seconds: number }): void;
  queryFailed(failure: { readonly list: string; readonly seconds: number; readonly error: unknown }): void;
}

/** A trace or session that cannot be recomputed as a whole, or can again. */
export interface RolledUpItem {
  readonly kind: 'trace' | 'session';
  readonly projectId: string;
  readonly id: string;
}

/** How many are set aside. */
export interface SetAsideCount {
  readonly traces: number;
  readonly sessions: number;
}

export interface RollupObserver {
  rollupPending(pending: { readonly traces: number }): void;
  rollupFinished(rollup: { readonly traces: number; readonly seconds: number }): void;
  rollupFailed(failure: { readonly error: unknown }): void;
  /** @param stale whether its figures stay as they were, too, and not only its tags */
  setAside(item: RolledUpItem, state: { readonly stale: boolean; readonly error: unknown }): void;
  /** The trace or session is recomputed as a whole again, or deleted. */
  setAsideEnded(item: RolledUpItem): void;
  setAsideCounted(count: SetAsideCount): void;
  /** Absent when nothing is traced. */
  readonly tracing?: Tracing;
}

export interface WordIndexObserver {
  wordsIndexed(round: { readonly spans: number; readonly seconds: number }): void;
  wordIndexFailed(failure: { readonly error: unknown }): void;
}

export interface PurgeObserver {
  purgeFinished(purge: { readonly versions: number; readonly seconds: number }): void;
  purgeFailed(failure: { readonly error: unknown }): void;
}

/** The right of this server to write to a ClickHouse of the operator's. */
export interface LeaseObserver {
  leaseTaken(lease: { readonly epoch: number; readonly seconds: number }): void;
  /** A renewal failed and is repeated; writes are refused from when the lease runs out. */
  leaseRenewalFailed(failure: { readonly error: unknown }): void;
  /** Another server has taken it over. */
  leaseLost(loss: { readonly reason: string }): void;
}

/** Events of what is stored in ClickHouse. */
export interface StorageEvents
  extends
    CommitObserver,
    FlushObserver,
    RollupObserver,
    PurgeObserver,
    WordIndexObserver,
    QueryObserver,
    LeaseObserver,
    DiskEvents,
    MigrationObserver,
    MetadataMigrationObserver,
    DeletionObserver {}

export function storageEvents(logger: Logger, metrics: Metrics): StorageEvents {
  return {
    ...commitEvents(logger, metrics),
    ...flushEvents(logger, metrics),
    ...rollupEvents(logger, metrics),
    ...purgeEvents(logger, metrics),
    ...wordIndexEvents(logger, metrics),
    ...queryEvents(logger, metrics),
    ...leaseEvents(logger, metrics),
    ...diskEvents(logger, metrics),
    ...migrationEvents(logger),
    ...deletionEvents(logger, metrics),
  };
}

function deletionEvents(logger: Logger, metrics: Metrics): DeletionObserver {
  return {
    deletionFinished({ what, spans, seconds }) {
      metrics.deletions.inc({ what });
      const fields = { ms: milliseconds(seconds), ...(what === 'spans' ? { spans } : {}) };
      say(logger, what === 'project' ? 'projectDeleted' : 'spansDeleted', fields);
    },
    deletionFailed({ project, error }) {
      say(logger, 'deletionFailed', { project, error });
    },
  };
}

function flushEvents(logger: Logger, metrics: Metrics): FlushObserver {
  return {
    flushed({ rows, bytes, seconds }) {
      metrics.flushDuration.observe(seconds);
      metrics.flushRows.observe(rows);
      say(logger, 'spansFlushed', { rows, bytes, ms: milliseconds(seconds) });
    },
    flushFailed({ rows, error }) {
      metrics.flushFailures.inc();
      say(logger, 'flushFailed', { rows, error });
    },
    writeQuarantined({ file, rows, error }) {
      say(logger, 'writeQuarantined', { file, rows, error });
    },
    logChanged({ rows, bytes }) {
      metrics.logRows.set(rows);
      metrics.logBytes.set(bytes);
    },
    logRecovered({ rows, bytes }) {
      say(logger, 'logRecovered', { rows, bytes });
    },
  };
}

function commitEvents(logger: Logger, metrics: Metrics): CommitObserver {
  return {
    spansCommitted({ rows, bytes, seconds }) {
      metrics.commitRows.observe(rows);
      metrics.commitBytes.observe(bytes);
      metrics.commitDuration.observe(seconds);
      say(logger, 'spansCommitted', { rows, bytes, ms: milliseconds(seconds) });
    },
    commitFailed({ rows, error }) {
      say(logger, 'commitFailed', { rows, error });
    },
    queueChanged({ rows, bytes }) {
      metrics.commitQueueRows.set(rows);
      metrics.commitQueueBytes.set(bytes);
    },
  };
}

function leaseEvents(logger: Logger, metrics: Metrics): LeaseObserver {
  return {
    leaseTaken({ epoch, seconds }) {
      metrics.leaseHeld.set(1);
      say(logger, 'leaseTaken', { epoch, ms: milliseconds(seconds) });
    },
    leaseRenewalFailed({ error }) {
      metrics.leaseRenewalsFailed.inc();
      say(logger, 'leaseRenewalFailed', { error });
    },
    leaseLost({ reason }) {
      metrics.leaseHeld.set(0);
      say(logger, 'leaseLost', { reason });
    },
  };
}

function migrationEvents(logger: Logger): MigrationObserver & MetadataMigrationObserver {
  return {
    migrationBegins({ version, name, rewrites, rows }) {
      if (rows === 0) say(logger, 'migrationBegins', { version, name });
      else say(logger, 'migrationRewrites', { version, name, tables: rewrites.join(', '), rows });
    },
    metadataMigrationBegins({ versions, copy }) {
      say(logger, 'metadataMigrationBegins', { migrations: versions.join(', '), copy });
    },
  };
}

function queryEvents(logger: Logger, metrics: Metrics): QueryObserver {
  return {
    queryFinished({ list, seconds }) {
      metrics.queryDuration.observe({ list }, seconds);
    },
    queryFailed({ list, seconds, error }) {
      metrics.queryDuration.observe({ list }, seconds);
      say(logger, 'queryFailed', { list, ms: milliseconds(seconds), error });
    },
  };
}

function rollupEvents(logger: Logger, metrics: Metrics): RollupObserver {
  return {
    rollupPending({ traces }) {
      metrics.rollupPendingTraces.set(traces);
    },
    rollupFinished({ traces, seconds }) {
      metrics.rollupDuration.observe(seconds);
      say(logger, 'rollupFinished', { traces, ms: milliseconds(seconds) });
    },
    rollupFailed({ error }) {
      say(logger, 'rollupFailed', { error });
    },
    setAside(item, { stale, error }) {
      metrics.rollupSetAside.inc({ kind: item.kind });
      say(logger, stale ? 'figuresSetAside' : 'tagsSetAside', { ...idOf(item), error });
    },
    setAsideEnded(item) {
      say(logger, 'setAsideEnded', idOf(item));
    },
    setAsideCounted({ traces, sessions }) {
      metrics.rollupSetAsideTraces.set(traces);
      metrics.rollupSetAsideSessions.set(sessions);
    },
  };
}

function idOf({ kind, projectId, id }: RolledUpItem): Record<string, string> {
  return { project_id: projectId, [`${kind}_id`]: id };
}

function wordIndexEvents(logger: Logger, metrics: Metrics): WordIndexObserver {
  return {
    wordsIndexed({ spans, seconds }) {
      metrics.wordsIndexedSpans.inc(spans);
      say(logger, 'wordsIndexed', { spans, ms: milliseconds(seconds) });
    },
    wordIndexFailed({ error }) {
      say(logger, 'wordIndexFailed', { error });
    },
  };
}

function purgeEvents(logger: Logger, metrics: Metrics): PurgeObserver {
  return {
    purgeFinished({ versions, seconds }) {
      metrics.purgedVersions.inc(versions);
      say(logger, 'purgeFinished', { versions, ms: milliseconds(seconds) });
    },
    purgeFailed({ error }) {
      say(logger, 'purgeFailed', { error });
    },
  };
}
