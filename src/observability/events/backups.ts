import type { BackupObserver } from '../../domain/backup/snapshot.js';
import { say } from '../lines.js';
import type { Logger } from '../logger.js';
import type { Metrics } from '../metrics.js';
import { milliseconds } from './milliseconds.js';

export interface BackupEvents extends BackupObserver {
  backupsScheduled(schedule: { readonly everyMs: number }): void;
  /** @param last when the last backup was taken that is where they go; null: there is none */
  backupFound(last: { readonly at: number | null }): void;
  /** A scheduled backup was not made; it is tried again. */
  backupRetried(failure: { readonly error: unknown }): void;
}

export function backupEvents(logger: Logger, metrics: Metrics): BackupEvents {
  let lastAt = 0;
  const succeeded = (at: number) => {
    lastAt = Math.max(lastAt, at);
    metrics.backupLastSuccess.set(lastAt / 1000);
  };
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
    backupFailed({ reason }) {
      metrics.backupLastFailure.set(Date.now() / 1000);
      say(logger, 'backupFailed', { reason });
    },
    backupsScheduled({ everyMs }) {
      metrics.backupInterval.set(everyMs / 1000);
    },
    backupFound({ at }) {
      if (at !== null) succeeded(at);
    },
    backupRetried({ error }) {
      metrics.backupLastFailure.set(Date.now() / 1000);
      say(logger, 'backupRetried', { error });
    },
  };
}
