import { Type, type TSchema } from '@sinclair/typebox';
import { byKey } from './parts.js';

/*
 * Parts of the schemas of request bodies. Optional fields also take null, which means absent; unknown fields are
 * ignored. Sizes are bounded only where a value becomes a key or a name: payloads are bounded by the body limit.
 */

export const time = (description: string) =>
  Type.Union([Type.String({ minLength: 1, maxLength: 64 }), Type.Number()], {
    description: `${description} ISO 8601 with or without offset (without: UTC), or Unix seconds or milliseconds.`,
  });
export const optional = <T extends TSchema>(schema: T) =>
  Type.Optional(
    Type.Union(
      [schema, Type.Null()],
      typeof schema['description'] === 'string' ? { description: schema['description'] } : {},
    ),
  );

export const label = (description: string, minLength = 0) => Type.String({ minLength, maxLength: 4096, description });
export const name = (description: string) => label(description, 1);
/** Most tags of one object. */
export const MAX_TAGS = 1000;
const ANY_TAGS = { count: MAX_TAGS };
const tagText = (maxLength?: number) => Type.String(maxLength === undefined ? {} : { maxLength });
/** Longest key of a tag, in characters. */
export const MAX_TAG_KEY = 1024;
/** How many tags there may be, and how long their keys. */
export const tagBounds = ({ count }: { readonly count: number }) => ({
  propertyNames: { maxLength: MAX_TAG_KEY, 'x-must': `have keys of at most ${MAX_TAG_KEY} characters` },
  maxProperties: count,
});
/** Schema of tags. @param limits how many there may be, and how long a value may be, in characters */
export const tags = (description: string, limits: { readonly count: number; readonly length?: number } = ANY_TAGS) =>
  byKey(Type.Union([tagText(limits.length), Type.Number(), Type.Boolean(), Type.Null()]), {
    ...tagBounds(limits),
    description: `${description} Values are strings; numbers and booleans become their JSON text, nulls are dropped.`,
  });
export const attributes = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
export const status = (description: string) =>
  Type.Union([Type.Literal('unset'), Type.Literal('ok'), Type.Literal('error')], { description });
export const cost = (description: string) => Type.Number({ minimum: 0, maximum: 1e12, description });
export const duration = (description: string) => Type.Number({ minimum: 0, maximum: 1e15, description });
export const payload = (description: string) =>
  Type.Union([Type.String(), Type.Record(Type.String(), Type.Unknown()), Type.Array(Type.Unknown())], {
    description: `${description} An object or array is stored as its JSON text.`,
  });
