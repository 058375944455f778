import { Type } from '@sinclair/typebox';
import type { Micros } from '../timestamp.js';

/** The name of a tag that points at something, such as a version of a prompt. */
export const TagName = Type.String({
  pattern: '^[A-Za-z0-9._-]{1,64}$',
  'x-must': 'have 1 to 64 characters of A-Z, a-z, 0-9, dot, underscore and hyphen',
  description: 'Name of the tag.',
});

/** A move of a tag. */
export interface TagMove<T> {
  /** Null: the tag was removed. */
  readonly target: T | null;
  readonly at: Micros;
  readonly by: { readonly id: string; readonly name: string };
}
