import { Type } from '@sinclair/typebox';

/** Pattern of a span's kind: one of the contract's six or any other identifier of this form. */
export const KIND = /^[a-z][a-z0-9_]{0,31}$/;

/** Schema of a kind, in requests and answers. */
export const spanKind = (description: string) =>
  Type.String({
    pattern: KIND.source,
    'x-must': 'have 1 to 32 characters of a-z, 0-9 and underscore, and begin with a letter',
    description,
  });
