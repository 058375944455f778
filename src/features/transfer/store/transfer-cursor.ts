import { DomainError } from '../../../engine/errors.js';

export type CursorValue = string | number;

/** Where a page ended, as a client hands it back. */
export function writeCursor(values: readonly CursorValue[]): string {
  return Buffer.from(JSON.stringify(values)).toString('base64url');
}

/** @throws DomainError `invalid` for anything but what {@link writeCursor} made of such values */
export function readCursor(text: string, lengths: readonly number[]): CursorValue[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    const isOne = (value: unknown) => typeof value === 'string' || Number.isSafeInteger(value);
    if (Array.isArray(values) && lengths.includes(values.length) && values.every(isOne)) return values as CursorValue[];
  } catch {
    // It is no JSON.
  }
  throw new DomainError('invalid', 'after must be the `next` of an earlier page of this part', {
    issues: [{ pointer: '?after', detail: 'must be the `next` of an earlier page of this part' }],
  });
}
