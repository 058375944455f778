import { DomainError } from '../../errors.js';

/** More waits than the queue holds, or than a project may have of it. */
export function overloaded(): DomainError {
  return new DomainError(
    'overloaded',
    'Too many spans are waiting to be stored, in total or in this project. Retry later.',
    {
      retryAfterSeconds: 1,
    },
  );
}

/** @param maxBytes what one request may take once it is encoded */
export function tooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'too_large',
    `The request's spans exceed ${maxBytes} bytes when stored, each with its OpenTelemetry resource: send smaller batches`,
  );
}

/** The refusal while an insert without a log has failed, and is sent again. */
export function uncertain(): DomainError {
  return new DomainError('unavailable', 'The store is recovering from a failure. Retry.', {
    retryAfterSeconds: 1,
  });
}

/** The refusal while the log cannot be written to. */
export function logFailing(cause?: unknown): DomainError {
  return new DomainError('unavailable', 'Cannot write to the write-ahead log. Retry later.', {
    retryAfterSeconds: 5,
    reason: 'log_failed',
    cause,
  });
}

/** The refusal while ClickHouse is away and the log holds all that it may. */
export function logFull(): DomainError {
  return new DomainError(
    'unavailable',
    'ClickHouse does not respond, and the write-ahead log has reached WRITE_LOG_MAX_MB. Retry later.',
    { retryAfterSeconds: 5, reason: 'log_full' },
  );
}
