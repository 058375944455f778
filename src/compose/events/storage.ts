import type { DeletionObserver } from '../../features/deletion/deletion-service.js';
import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';
import type { Metrics } from '../../engine/signals/metrics.js';
import { diskEvents, type DiskEvents } from './disks.js';
import { milliseconds } from './milliseconds.js';
import type {
  CommitObserver,
  FlushObserver,
  MigrationObserver,
  QueryObserver,
  RolledUpItem,
  RollupObserver,
  WordIndexObserver,
  PurgeObserver,
  LeaseObserver,
} from '../../engine/traces/observers.js';
import type { MetadataMigrationObserver } from '../../engine/metadata/upgrade-copy.js';

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
