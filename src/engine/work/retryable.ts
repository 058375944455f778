import { DomainError, type DomainErrorKind } from '../errors.js';

const RETRYABLE: readonly DomainErrorKind[] = ['unavailable', 'overloaded'];
const RETRYABLE_STATUSES = [408, 409, 429];

/** Whether the same work may succeed later: a store does not answer, or a queue is full. Any other error is a defect. */
export function isRetryable(error: unknown): boolean {
  return error instanceof DomainError && RETRYABLE.includes(error.kind);
}

/** Whether a service that answered with this HTTP status may do what it was asked for later. */
export function isRetryableStatus(status: number): boolean {
  return RETRYABLE_STATUSES.includes(status) || status >= 500;
}
