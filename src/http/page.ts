import { Type, type IntegerOptions } from '@sinclair/typebox';

/* The parameters by which a route answers a part of what it lists. */

const limitUpTo = (maximum: number, options: IntegerOptions) => Type.Integer({ minimum: 1, maximum, ...options });
const offsetUpTo = (maximum: number) =>
  Type.Integer({ minimum: 0, maximum, default: 0, description: 'Number of items to skip.' });

interface PageBounds {
  readonly maxLimit: number;
  readonly defaultLimit: number;
  /** Default: any number that a client can count to. */
  readonly maxOffset?: number;
}

/** A page, whether asked for or not. */
export const page = ({ maxLimit, defaultLimit, maxOffset = Number.MAX_SAFE_INTEGER }: PageBounds) => ({
  limit: limitUpTo(maxLimit, { default: defaultLimit, description: 'Most items in the answer.' }),
  offset: offsetUpTo(maxOffset),
});

/** All, unless a page is asked for. */
export const allOrPage = (maxLimit: number) => ({
  limit: Type.Optional(limitUpTo(maxLimit, { description: 'Most items in the answer; absent: all.' })),
  offset: offsetUpTo(Number.MAX_SAFE_INTEGER),
});
