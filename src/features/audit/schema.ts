import { Type, type Static } from '@sinclair/typebox';
import { pageRead } from '../../engine/schema/page.js';
import { count, oneOf, orNull, time, uuid } from '../../engine/schema/parts.js';
import { AUDIT_ACTIONS } from '../../engine/identity/audit-actions.js';
import { ACTORS } from './audit-entry.js';

export const ACTION_NAMES = AUDIT_ACTIONS.map(({ action }) => action);
/** Kinds of objects, which actions begin with. */
export const OBJECT_TYPES = [...new Set(ACTION_NAMES.map((action) => objectTypeOf(action)))];

/** The kind of object that an action is about. */
export function objectTypeOf(action: string): string {
  return action.slice(0, action.indexOf('.'));
}

const Value = Type.Unsafe<string | number | boolean | null>({ type: ['string', 'number', 'boolean', 'null'] });

const AuditChangeRead = Type.Object(
  {
    field: Type.String({ description: 'Name of the field.' }),
    from: Type.Optional({ ...Value, description: 'Its value before. Absent for texts and new objects.' }),
    to: Type.Optional({ ...Value, description: 'Its value afterwards. Absent for texts.' }),
  },
  { $id: 'AuditChange', description: 'A field that changed. Contents of prompts, spans and feedback are never there.' },
);

export const AuditEntryRead = Type.Object(
  {
    number: count('Number of the entry in the project: each is one more than that of the entry before.'),
    created_at: time('When it was done.'),
    action: oneOf(ACTION_NAMES, 'What was done.'),
    actor: oneOf(
      ACTORS,
      'person: someone in the console; key: a program with an API key; command: a command on the machine of the server; server: the server itself.',
    ),
    user_id: orNull(uuid('The user, also where an API key of theirs was used.')),
    user_name: orNull(Type.String({ description: 'Name of the user as it is now; null: none, or the user is gone.' })),
    key_id: orNull(uuid('The API key.')),
    key_name: orNull(Type.String({ description: 'Name of the API key as it was then.' })),
    sign_in_id: orNull(uuid('The session of the person in the console.')),
    object_type: oneOf(OBJECT_TYPES, 'Type of the object: what the action begins with.'),
    object_id: orNull(Type.String({ description: 'Id of the object; null: it has none.' })),
    object_name: orNull(
      Type.String({ description: 'Name of the object as it was then, such as the slug of a prompt.' }),
    ),
    changes: Type.Array(AuditChangeRead, { description: 'Fields that changed, and parameters of the action.' }),
    address: orNull(Type.String({ description: 'Address of the client.' })),
    request_id: orNull(Type.String({ description: 'Id of the request, as in the response and the server log.' })),
  },
  { $id: 'AuditEntry', description: 'An action, and who performed it.' },
);
export type AuditEntryRead = Static<typeof AuditEntryRead>;

export const AuditPageRead = Type.Object(
  { ...pageRead, entries: Type.Array(AuditEntryRead, { description: 'The entries.' }) },
  { $id: 'AuditPage', description: 'A page of the audit log.' },
);
