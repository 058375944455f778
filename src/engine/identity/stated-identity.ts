import { DomainError } from '../errors.js';
import { UUID } from '../schema/ids.js';
import { MAX_NAME_LENGTH } from './identity.js';

/** @throws DomainError `invalid` */
export function requireUuid(id: string): void {
  if (!UUID.test(id)) throw new DomainError('invalid', 'A project id must be a UUID');
}

/** @throws DomainError `invalid` */
export function usableName(name: string): string {
  const trimmed = name.trim();
  if (trimmed === '' || trimmed.length > MAX_NAME_LENGTH) {
    throw new DomainError('invalid', `A name must have 1 to ${MAX_NAME_LENGTH} characters`);
  }
  return trimmed;
}
