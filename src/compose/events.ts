import { auditEvents, type AuditEvents } from './events/audit.js';
import { backupEvents, type BackupEvents } from './events/backups.js';
import { clientEvents, type ClientEvents } from './events/clients.js';
import { engineEvents, type EngineEvents } from './events/engine.js';
import { jobEvents, type JobEvents } from './events/jobs.js';
import { judgeEvents, type JudgeEvents } from './events/judges.js';
import { moveEvents, type MoveEvents } from './events/moves.js';
import { requestEvents, type RequestEvents } from './events/requests.js';
import { storageEvents, type StorageEvents } from './events/storage.js';
import type { Logger } from '../engine/signals/logger.js';
import type { Metrics } from '../engine/signals/metrics.js';
import type { Tracing } from '../engine/signals/tracing.js';

/**
 * The events of the server, one function each: it writes the log line and moves the metrics that belong to
 * it, so that a call site stays one line and the two never disagree. Rooms ask for the narrow interface they need.
 */
export interface Events
  extends
    RequestEvents,
    ClientEvents,
    EngineEvents,
    StorageEvents,
    JudgeEvents,
    JobEvents,
    BackupEvents,
    MoveEvents,
    AuditEvents {}

export function createEvents(logger: Logger, metrics: Metrics, tracing?: Tracing): Events {
  const audit = auditEvents(logger);
  return {
    ...audit,
    ...requestEvents(logger, metrics, audit),
    ...clientEvents(logger, metrics),
    ...engineEvents(logger, metrics),
    ...storageEvents(logger, metrics),
    ...judgeEvents(logger, metrics),
    ...jobEvents(logger, metrics),
    ...backupEvents(logger, metrics),
    ...moveEvents(logger),
    ...(tracing && { tracing }),
  };
}
