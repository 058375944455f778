import { Type } from '@sinclair/typebox';
import { orNull } from '../engine/schema/parts.js';

/* Pages as clients of Phoenix ask for them: behind a cursor, which is a number of items to skip. */

/** Most items of a page; clients ask for 100 at most of their own accord. */
const MAX_PAGE = 1_000;

export const limit = (what: string, most = MAX_PAGE) =>
  Type.Integer({ minimum: 1, maximum: most, default: 100, description: `Most ${what} of a page.` });

export const cursor = Type.Optional(
  Type.String({ pattern: '^[0-9]{1,9}$', description: '`next_cursor` of the page before.' }),
);

export const nextCursor = orNull(
  Type.String({ description: '`cursor` of the next page; null: this is the last one.' }),
);

export const offsetAt = (at: string | undefined): number => Number(at ?? 0);

/** The cursor behind a page. @param isLast whether it is the last one */
export const cursorBehind = (offset: number, isLast: boolean): string | null => (isLast ? null : String(offset));
