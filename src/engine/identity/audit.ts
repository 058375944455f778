import type { AuditRecord } from '../signals/catalog/audit.js';

/** Who did something; null: the server itself, or a command on its machine. */
export type Actor = AuditRecord['by'];

/** Where services tell what was done, once it is. */
export interface AuditLog {
  done(record: AuditRecord): void;
}

/** For programs without a log. */
export const NO_AUDIT_LOG: AuditLog = { done: () => undefined };
