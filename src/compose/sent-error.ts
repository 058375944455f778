import { DomainError, type DomainErrorKind, type DomainErrorOptions } from '../engine/errors.js';

/** An error without its class, which does not get from one thread to another. */
export interface SentError extends Pick<DomainErrorOptions, 'issues' | 'retryAfterSeconds' | 'reason'> {
  readonly kind: DomainErrorKind;
  readonly message: string;
  /** Of a defect. */
  readonly stack?: string | undefined;
}

/** The error as another thread is sent it. */
export function sent(error: unknown): SentError {
  if (!(error instanceof DomainError))
    return { kind: 'internal', message: String(error), stack: error instanceof Error ? error.stack : undefined };
  const { kind, message, issues, retryAfterSeconds, reason } = error;
  return {
    kind,
    message,
    issues,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(reason === undefined ? {} : { reason }),
  };
}

/** The error that a thread sent. */
export function received({ kind, message, stack, ...options }: SentError): Error {
  if (stack === undefined) return new DomainError(kind, message, options);
  const defect = new Error(message);
  defect.stack = stack;
  return defect;
}
