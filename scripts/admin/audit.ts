import { DomainError } from '../../src/engine/errors.js';
import type { AuditStore } from '../../src/features/audit/audit-entry.js';
import { auditEntryRead } from '../../src/features/audit/http/routes.js';
import type { Row } from '../output.js';

const MOST = 10_000;
const ALL = { action: null, objectType: null, objectId: null, actor: null, actorId: null, start: null, end: null };

/** The newest entries of a log, the newest first. @param projectId null: of the server itself @throws DomainError `invalid` */
export function auditRows(audit: AuditStore, projectId: string | null, limit: string): Row[] {
  const most = /^\d{1,5}$/.test(limit) ? Number(limit) : 0;
  if (most < 1 || most > MOST) throw new DomainError('invalid', `--limit must be a whole number from 1 to ${MOST}`);
  return audit.before({ projectId, filter: ALL }, null, most).map((entry) => {
    const { changes, ...row } = auditEntryRead(entry);
    return { ...row, changes: JSON.stringify(changes) };
  });
}
