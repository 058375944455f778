import { Type, type TSchema } from '@sinclair/typebox';

/* What schemas are made of, as answers write it. */

export const uuid = (description: string) => Type.String({ format: 'uuid', description });
/** ISO 8601 with an offset. */
export const time = (description: string) => Type.String({ format: 'date-time', description });
export const number = (description: string) => Type.Number({ description });
export const count = (description: string) => Type.Integer({ minimum: 0, description });
export const orNull = <T extends TSchema>(schema: T) =>
  Type.Union([schema, Type.Null()], { description: schema.description ?? '' });
export const oneOf = <const T extends readonly string[]>(values: T, description: string) =>
  Type.Unsafe<T[number]>({ type: 'string', enum: [...values], description });

/** Which part of a list an answer holds. */
export const page = {
  total: count('How many there are on all pages.'),
  limit: count('How many a page has at most.'),
  offset: count('How many were passed over.'),
};
