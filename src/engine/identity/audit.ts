import type { AuditChange, AuditRecord, ToldValue } from '../signals/catalog/audit.js';

/** Who did something; null: the server itself, or a command on its machine. */
export type Actor = AuditRecord['by'];

/** Where services tell what is done. */
export interface AuditLog {
  /** Tells of something that is done, or, inside of {@link together}, of what is being done. @throws DomainError `unavailable` */
  done(record: AuditRecord): void;
  /**
   * Makes a change in the metadata, and tells of it meanwhile: both are stored, or neither.
   * @throws what `change` throws; DomainError `unavailable`
   */
  together<T>(change: () => T): T;
}

/** Makes a change as one transaction, with what the audit log is told meanwhile. */
export function inTransaction<T>(
  audit: AuditLog,
  store: { transaction<Made>(work: () => Made): Made },
  work: () => T,
): T {
  return audit.together(() => store.transaction(work));
}

/** For programs without a log. */
export const NO_AUDIT_LOG: AuditLog = { done: () => undefined, together: (change) => change() };

/**
 * What differs between two states of an object. Numbers, and what is on or off, are told; of texts and all else only that they
 * changed.
 */
export function changesBetween<T extends object>(
  before: T,
  after: T,
  fields: readonly (keyof T & string)[],
): AuditChange[] {
  return fields.flatMap((field) => {
    const [from, to] = [before[field], after[field]];
    if (JSON.stringify(from) === JSON.stringify(to)) return [];
    return [{ field, ...(isPlain(from) && isPlain(to) && { from, to }) }];
  });
}

function isPlain(value: unknown): value is Exclude<ToldValue, string> {
  return value === null || typeof value === 'number' || typeof value === 'boolean';
}
