import { DomainError } from '../../../engine/errors.js';

const RETRY_AFTER_SECONDS = 5;

/** Runs store work; whatever it fails with means that the store does not answer now. */
export async function guardedStore<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new DomainError('unavailable', 'The image store does not respond', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
      cause: error,
    });
  }
}

const SHA256 = /^[0-9a-f]{64}$/;
const PROJECT = /^[0-9a-z-]{1,64}$/;

/** Where an image lies below the store's root; the names come from checked input, anything else is a defect. */
export function locationOf(projectId: string, sha256: string): readonly [project: string, fan: string, name: string] {
  if (!PROJECT.test(projectId) || !SHA256.test(sha256)) throw new Error('Not an attachment name');
  return [projectId, sha256.slice(0, 2), sha256];
}
