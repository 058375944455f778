import { Type, type TSchema } from '@sinclair/typebox';
import { spanKind } from '../../../schema/kind.js';
import { byKey, oneOf, uuid } from '../../../schema/parts.js';
import { namedFields, type Field, type FieldType } from './fields.js';

/** The JSON Schema of each type of field. */
export const fieldSchemas: Readonly<Record<FieldType, (description: string) => TSchema>> = {
  id: (description) => uuid(description),
  text: (description) => Type.String({ description }),
  kind: spanKind,
  status: (description) => oneOf(['unset', 'ok', 'error'], description),
  time: (description) => Type.String({ format: 'date-time', description: `${description} UTC, with microseconds.` }),
  number: (description) => Type.Number({ description }),
  money: (description) => Type.Number({ description }),
  integer: (description) => Type.Integer({ description }),
  boolean: (description) => Type.Boolean({ description }),
  tags: (description) => byKey(Type.String(), { description }),
  json: (description) => Type.Record(Type.String(), Type.Unknown(), { description }),
};

const named: Readonly<Record<keyof typeof namedFields, TSchema>> = {
  scores: Type.Optional(
    byKey(Type.Union([Type.Number(), Type.Boolean(), Type.String()]), { description: namedFields.scores.description }),
  ),
};

/** JSON Schema of an answered object; no field is required, because `fields=` may leave any of them out. */
export function readSchema($id: string, fields: Readonly<Record<string, Field>>): TSchema {
  const properties = Object.entries(fields).map(([key, { type, nullable, description }]) => {
    const schema = fieldSchemas[type](description);
    return [key, Type.Optional(nullable ? Type.Union([schema, Type.Null()], { description }) : schema)];
  });
  return Type.Object(
    { ...Object.fromEntries(properties), ...named },
    {
      $id,
      description: `A ${$id.replace('Read', '').toLowerCase()} as it is answered.`,
    },
  );
}
