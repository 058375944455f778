import { Type } from '@sinclair/typebox';
import { MAX_NAME_LENGTH } from '../../../engine/identity/identity.js';
import { uuid } from '../../../engine/schema/parts.js';
import { MAX_NAME } from '../../review/schema.js';

/* What the schemas of records are made of. */

/** Composed, as names of reviewers are stored, a text has at most so many times its characters. */
const COMPOSED = 3;

/**
 * The highest revision of a set of corrections that is exported or imported. No one has counted so far: the rest of the numbers that
 * JavaScript reads exactly, as many again, is there to count on.
 */
export const MAX_REVISIONS = 2 ** 52;

export const person = (what: string) =>
  Type.Object(
    {
      id: uuid('Id of the user.'),
      name: Type.String({
        maxLength: Math.max(MAX_NAME_LENGTH, COMPOSED * MAX_NAME),
        description: 'Name of the user.',
      }),
    },
    { description: `${what} A person who is unknown in the project is known only by name, and cannot sign in.` },
  );
export const text = (maxLength: number, description: string) => Type.String({ maxLength, description });
export const json = (description: string) => Type.Record(Type.String(), Type.Unknown(), { description });
export const revision = (description: string) => Type.Integer({ minimum: 0, maximum: MAX_REVISIONS, description });
export const record = <T extends Parameters<typeof Type.Object>[0]>(id: string, description: string, properties: T) =>
  Type.Object(properties, { $id: `Exported${id}`, description });
