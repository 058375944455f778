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

/** The refusal while it is not known what a failed insert left behind. */
export function uncertain(): DomainError {
  return new DomainError('unavailable', 'The store is recovering from a failure. Send again.', {
    retryAfterSeconds: 1,
  });
}
