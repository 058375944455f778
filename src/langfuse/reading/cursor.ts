import { invalid } from '../../engine/validation/validation.js';

/** Where a page ends, as clients send it back. */
export function cursorOf(offset: number): string {
  return Buffer.from(`offset:${offset}`).toString('base64url');
}

/** @throws DomainError `invalid` */
export function offsetAt(cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const [, digits] = /^offset:(\d{1,8})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (digits === undefined) throw invalid([{ pointer: '?cursor', detail: 'must be the cursor of an earlier page' }]);
  return Number(digits);
}
