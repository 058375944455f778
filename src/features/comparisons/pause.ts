import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '../../engine/errors.js';

/** Waits a while in a request. @throws the signal's reason; DomainError `unavailable` when the server stops */
export async function pause(ms: number, signal: AbortSignal, stopping: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: AbortSignal.any([signal, stopping]) }).catch((error: unknown) => {
    if (!stopping.aborted) throw error;
    throw new DomainError('unavailable', 'The server is shutting down. Retry.', { retryAfterSeconds: 1 });
  });
}
