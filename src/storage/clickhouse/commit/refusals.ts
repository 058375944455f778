import { DomainError } from '../../../domain/errors.js';

/** More waits than the queue holds, or than a project may have of it. */
export function overloaded(): DomainError {
  return new DomainError(
    'overloaded',
    'Too many spans wait to be stored, in all or of this project. Send again later.',
    {
      retryAfterSeconds: 1,
    },
  );
}

/** @param maxBytes what one request may take once it is encoded */
export function tooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'too_large',
    `The spans of the request take more than ${maxBytes} bytes when stored, each with its OpenTelemetry resource: send smaller batches`,
  );
}

/** The refusal while an insert without a log has failed, and is sent again. */
export function uncertain(): DomainError {
  return new DomainError('unavailable', 'The store is recovering from a failure. Send again.', {
    retryAfterSeconds: 1,
  });
}

/** The refusal while the log cannot be written to. */
export function logFailing(cause?: unknown): DomainError {
  return new DomainError('unavailable', 'The write-ahead log cannot be written to. Send again later.', {
    retryAfterSeconds: 5,
    reason: 'log_failed',
    cause,
  });
}

/** The refusal while ClickHouse is away and the log holds all that it may. */
export function logFull(): DomainError {
  return new DomainError(
    'unavailable',
    'ClickHouse does not answer, and the write-ahead log holds all that LOG_MAX_MB allows. Send again later.',
    { retryAfterSeconds: 5, reason: 'log_full' },
  );
}
