import { Type, type TObject, type TSchema } from '@sinclair/typebox';
import { spanKind } from '../schema/kind.js';
import type { ListDefinition } from './definitions.js';
import type { FieldType } from './fields.js';
import { MAX_OFFSET } from './query.js';

/** Describes the query string that `parseListQuery` reads, for the documentation. */
export function listQuerySchema(list: ListDefinition): TObject {
  const filters = list.filters.map(({ parameter, field, comparison, description }) => {
    const plain = comparison === 'is' || comparison === 'atLeast' || comparison === 'atMost';
    return [parameter, parameterSchema(plain ? (list.fields[field]?.type ?? 'text') : 'text', description)];
  });
  const shared = {
    sort_by: Type.Unsafe<string>({
      type: 'string',
      enum: [...list.sorts],
      default: list.defaultSort,
      description: 'Field to sort by. Objects without a value come last either way; ties are broken by id.',
    }),
    sort_order: Type.Unsafe<string>({
      type: 'string',
      enum: ['asc', 'desc'],
      default: 'desc',
      description: 'Ascending or descending.',
    }),
    limit: Type.Integer({
      minimum: 1,
      maximum: list.maxLimit,
      default: list.defaultLimit,
      description: 'How many to answer at most.',
    }),
    offset: Type.Integer({ minimum: 0, maximum: MAX_OFFSET, default: 0, description: 'How many to pass over first.' }),
    count: Type.Boolean({ default: false, description: 'Also count all that match, in the header X-Total-Count.' }),
    q: Type.String({
      description:
        'Only those with this text in input or output (for traces and sessions: of any span), whatever its case.',
    }),
    fields: Type.String({ description: 'Names of the fields to answer, separated by commas. Default: all.' }),
  };
  const optional = ([name, schema]: [string, TSchema]) => [name, Type.Optional(schema)] as const;
  return Type.Object(
    Object.fromEntries([...(filters as [string, TSchema][]), ...Object.entries(shared)].map(optional)),
  );
}

function parameterSchema(type: FieldType, description: string): TSchema {
  switch (type) {
    case 'id':
      return Type.String({ format: 'uuid', description });
    case 'time':
      return Type.String({ format: 'date-time', description });
    case 'number':
    case 'money':
    case 'integer':
      return Type.Number({ description });
    case 'boolean':
      return Type.Boolean({ description });
    case 'kind':
      return spanKind(description);
    case 'status':
      return Type.Unsafe({ type: 'string', enum: ['unset', 'ok', 'error'], description });
    default:
      return Type.String({ description });
  }
}
