import { auditLines, deriveAudit } from './catalog/audit.js';
import { backupCatalog, deriveBackups } from './catalog/backups.js';
import { clientCatalog, deriveClients } from './catalog/clients.js';
import { diskCatalog } from './catalog/disks.js';
import { engineCatalog } from './catalog/engine.js';
import { deriveJobs, jobCatalog } from './catalog/jobs.js';
import { deriveJudges, judgeCatalog } from './catalog/judges.js';
import { monitorCatalog } from './catalog/monitors.js';
import { moveCatalog } from './catalog/moves.js';
import { deriveProjects } from './catalog/projects.js';
import { deriveRequests, requestCatalog } from './catalog/requests.js';
import { deriveServer, serverCatalog } from './catalog/server.js';
import { deriveStorage, storageCatalog } from './catalog/storage.js';
import type { LogFields, Logger } from './logger.js';
import type { Metrics } from './metrics.js';
import type { Emitters, Line, LineName, LogEvent, Measured, Signal } from './signal.js';
import type { Tracing } from './tracing.js';

const catalog = {
  ...serverCatalog,
  ...requestCatalog,
  ...clientCatalog,
  ...engineCatalog,
  ...storageCatalog,
  ...diskCatalog,
  ...judgeCatalog,
  ...jobCatalog,
  ...backupCatalog,
  ...monitorCatalog,
  ...moveCatalog,
  ...auditLines,
};

type Declared = typeof catalog;

/** Every line that the server writes to its log, by name: there are no others. */
export const LINES = Object.fromEntries(
  Object.entries(catalog).filter(([, declared]) => 'message' in declared),
) as Readonly<Record<LineName<Declared>, Line>>;

/**
 * All that happens in the server, a function each: it writes the line and moves the metrics that the catalog declares, so that
 * the two never disagree. Whoever has something to tell takes those that it needs.
 */
export interface Signals
  extends
    Emitters<Declared>,
    ReturnType<typeof deriveAudit>,
    ReturnType<typeof deriveBackups>,
    ReturnType<typeof deriveClients>,
    ReturnType<typeof deriveJobs>,
    ReturnType<typeof deriveJudges>,
    ReturnType<typeof deriveProjects>,
    ReturnType<typeof deriveRequests>,
    ReturnType<typeof deriveServer>,
    ReturnType<typeof deriveStorage> {
  /** Absent when nothing is traced. */
  readonly tracing?: Tracing;
}

/** The signals of one server, with a memory of their own. */
export function createSignals(logger: Logger, metrics: Metrics): Signals {
  const log: LogEvent<LineName<Declared>> = (name, fields, again) => logEvent(logger, name, fields, again);
  const emitters = Object.entries(catalog).flatMap(([name, declared]) =>
    'count' in declared
      ? [[name, emitter(name as LineName<Declared>, declared as Measured<unknown>, metrics, log)]]
      : [],
  );
  return {
    ...(Object.fromEntries(emitters) as Emitters<Declared>),
    ...deriveAudit(log),
    ...deriveBackups(log, metrics),
    ...deriveClients(log),
    ...deriveJobs(log, metrics),
    ...deriveJudges(log),
    ...deriveProjects(metrics),
    ...deriveRequests(log, metrics),
    ...deriveServer(log, metrics),
    ...deriveStorage(log, metrics),
  };
}

function emitter(
  name: LineName<Declared>,
  declared: Measured<unknown> | Signal<unknown>,
  metrics: Metrics,
  log: LogEvent<LineName<Declared>>,
) {
  return (fields: unknown): void => {
    declared.count(metrics, fields);
    if ('log' in declared) log(name, declared.log(fields));
  };
}

/** As {@link LogEvent} says, to a logger. */
export function logEvent(logger: Logger, name: LineName<Declared>, fields: LogFields = {}, again = false): void {
  const line = LINES[name];
  const action = 'action' in line ? { action: line.action } : {};
  logger[again ? 'debug' : line.level](line.message, { event: name, ...fields, ...action });
}
