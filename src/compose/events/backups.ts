import type { BackupObserver, LastBackup } from '../../features/backup/snapshot.js';
import { say } from '../../engine/signals/lines.js';
import type { Logger } from '../../engine/signals/logger.js';
import type { Metrics } from '../../engine/signals/metrics.js';
import { milliseconds } from './milliseconds.js';

/** Backups that a line names. */
const NAMED = 5;

export interface BackupEvents extends BackupObserver {
  backupsScheduled(schedule: { readonly everyMs: number }): void;
  /** The last backup that is where they go was looked for. */
  backupFound(last: LastBackup & { readonly to: string }): void;
  /** A scheduled backup was not made; it is tried again. */
  backupRetried(failure: { readonly error: unknown }): void;
}

export function backupEvents(logger: Logger, metrics: Metrics): BackupEvents {
  let lastAt = 0;
  /** A moment that is still to come tells of a wrong clock, and of no age: alerts would wait for it. */
  const knownAt = () => (lastAt > Date.now() ? 0 : lastAt);
  const succeeded = (at: number) => {
    lastAt = Math.max(knownAt(), at);
  };
  metrics.watchBackupLastSuccess(() => knownAt() / 1000);
  let saidAhead = '';
  return {
    snapshotTaken({ heldMs, seconds }) {
      metrics.backupCommitsHeld.observe(heldMs / 1000);
      say(logger, 'snapshotTaken', { commits_held_ms: Math.round(heldMs), ms: milliseconds(seconds) });
    },
    snapshotNotEnded({ error }) {
      say(logger, 'snapshotNotEnded', { error });
    },
    backupFinished({ id, spans, bytes, newBytes, seconds }) {
      succeeded(Date.now());
      metrics.backupDuration.set(seconds);
      metrics.backupBytes.set(bytes);
      say(logger, 'backupMade', { backup: id, spans, bytes, new_bytes: newBytes, ms: milliseconds(seconds) });
    },
    backupsNotPruned({ reason }) {
      metrics.backupLastPruneFailure.set(Date.now() / 1000);
      say(logger, 'backupsNotPruned', { reason });
    },
    backupFailed({ reason }) {
      metrics.backupLastFailure.set(Date.now() / 1000);
      say(logger, 'backupFailed', { reason });
    },
    backupsScheduled({ everyMs }) {
      metrics.backupInterval.set(everyMs / 1000);
    },
    backupFound({ at, ahead, to }) {
      if (at !== null) succeeded(at);
      const backups = ahead.slice(0, NAMED).join(', ');
      if (backups !== '') say(logger, 'backupDatedAhead', { backups, count: ahead.length, to }, backups === saidAhead);
      saidAhead = backups;
    },
    backupRetried({ error }) {
      metrics.backupLastFailure.set(Date.now() / 1000);
      say(logger, 'backupRetried', { error });
    },
  };
}
