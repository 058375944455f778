import type { Line } from './line.js';
import { auditLines } from './lines/audit.js';
import { backupLines } from './lines/backups.js';
import { clientLines } from './lines/clients.js';
import { diskLines } from './lines/disks.js';
import { jobLines } from './lines/jobs.js';
import { judgeLines } from './lines/judges.js';
import { moveLines } from './lines/moves.js';
import { requestLines } from './lines/requests.js';
import { serverLines } from './lines/server.js';
import { storageLines } from './lines/storage.js';
import type { LogFields, Logger } from './logger.js';

const declared = {
  ...serverLines,
  ...requestLines,
  ...clientLines,
  ...storageLines,
  ...diskLines,
  ...judgeLines,
  ...jobLines,
  ...backupLines,
  ...moveLines,
  ...auditLines,
};

export type LineName = keyof typeof declared;

/** Every line that the server writes to its log, by name: there are no others. */
export const LINES: Readonly<Record<LineName, Line>> = declared;

/**
 * Writes a line of the log, with its name as `event` and, when something is to be done, what as `action`.
 * @param said whether the same was said a moment ago: the line is for level `debug` then
 */
export function say(logger: Logger, name: LineName, fields: LogFields = {}, said = false): void {
  const line = LINES[name];
  const action = 'action' in line ? { action: line.action } : {};
  logger[said ? 'debug' : line.level](line.message, { event: name, ...fields, ...action });
}
