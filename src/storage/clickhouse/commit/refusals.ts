import { DomainError } from '../../../domain/errors.js';

/** More waits than the queue holds, or than a project may have of it. */
export function overloaded(): DomainError {
  return new DomainError(
    'overloaded',
    'More is waiting to be stored than the queue holds, in all or for one project. Send again later.',
    {
      retryAfterSeconds: 1,
    },
  );
}

/** @param maxBytes what one request may take once it is encoded */
export function tooLarge(maxBytes: number): DomainError {
  return new DomainError(
    'too_large',
    `What the request wants stored takes more than ${maxBytes} bytes once every span carries what it shares: send smaller batches`,
  );
}

/** It is not known what a failed insert left behind. */
export function uncertain(): DomainError {
  return new DomainError('unavailable', 'The store is being brought back into order after a failure. Send again.', {
    retryAfterSeconds: 1,
  });
}
