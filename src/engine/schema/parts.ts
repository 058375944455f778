import { Type, type ObjectOptions, type Static, type TSchema } from '@sinclair/typebox';

/* Parts of schemas. */

/** A value of a schema for those who only read it: whatever is in it may be shared. */
export type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

export const uuid = (description: string) => Type.String({ format: 'uuid', description });
/** Time in ISO 8601 with an offset. */
export const time = (description: string) => Type.String({ format: 'date-time', description });
export const number = (description: string) => Type.Number({ description });
export const count = (description: string) => Type.Integer({ minimum: 0, description });
export const orNull = <T extends TSchema>(schema: T) =>
  Type.Union([schema, Type.Null()], { description: schema.description ?? '' });
/** A field of answers by its old name, which clients may still read. */
export const oldName = <T extends TSchema>(schema: T, name: string): T => ({
  ...schema,
  deprecated: true,
  description: `Old name of \`${name}\`, with the same value.`,
});
/** @param fallback stands for an absent query parameter */
export const oneOf = <const T extends readonly string[]>(values: T, description: string, fallback?: T[number]) =>
  Type.Unsafe<T[number]>({
    type: 'string',
    enum: [...values],
    description,
    ...(fallback === undefined ? {} : { default: fallback }),
  });
/** A name: something to show in one line. */
export const line = (maxLength: number, description: string) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[^\\u0000-\\u001f\\u007f]*$',
    'x-must': `have 1 to ${maxLength} characters without control characters`,
    description,
  });

/** An object with keys of any text. Not a `Type.Record`, whose pattern for these leaves out keys with a line break. */
export const byKey = <T extends TSchema>(value: T, options: Omit<ObjectOptions, 'additionalProperties'>) =>
  Type.Unsafe<Record<string, Static<T>>>({ type: 'object', additionalProperties: value, ...options });
