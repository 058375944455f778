import { Type, type Static } from '@sinclair/typebox';
import { ACCESS_NAMES, KEY_ACCESS_EXPLAINED } from '../../../engine/identity/key-access.js';
import { SCOPE_NAMES } from '../../../engine/identity/scopes.js';
import { line, oneOf, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { project_id } from '../../../http/parameters.js';

export { ProjectParams } from '../../../http/parameters.js';

export const access = oneOf(
  ACCESS_NAMES,
  `Access level of the key. ${KEY_ACCESS_EXPLAINED}; \`custom\`: other scopes.`,
);

export const scope = oneOf(SCOPE_NAMES, 'A scope.');
export const scopes = Type.Array(scope, { description: 'Scopes of the key, which say what calls it may make.' });

export const expires_at = orNull(time('When the key expires: it is refused from then on. null: never.'));

const properties = {
  id: uuid('Id of the key; not the key itself.'),
  project_id: uuid('Project of the key.'),
  user_id: uuid('User on whose behalf the key acts.'),
  name: Type.String({ description: 'Name of the key, such as its purpose.' }),
  prefix: Type.String({ description: 'The first characters of the key, to tell keys apart.' }),
  access,
  scopes,
  created_at: time('When the key was created.'),
  last_used_at: Type.Union([time('A time'), Type.Null({ description: 'Never' })], {
    description: 'When the key was last used, to about a minute; null: never.',
  }),
  last_used_from: orNull(
    line(64, 'Address of the client that last used the key; null: unknown, or the caller lacks the scope `admin`.'),
  ),
  expires_at,
  rotated_at: orNull(time('When the key was rotated: another one replaces it. null: it was not.')),
};

export const ApiKeyRead = Type.Object(
  { ...properties, user_name: Type.String({ description: 'Name of that user.' }) },
  { $id: 'ApiKey', description: 'An API key with its user, without the key itself.' },
);
export type ApiKeyRead = Static<typeof ApiKeyRead>;

export const ApiKeyCreated = Type.Object(
  {
    ...properties,
    key: Type.String({ description: 'The key itself. It is shown only here; the server stores only its hash.' }),
    public_key: Type.String({
      description:
        'What goes in front of the key for clients that want a pair of keys, as those of Langfuse do. Not secret.',
    }),
  },
  { $id: 'ApiKeyCreated', description: 'A new API key.' },
);
export type ApiKeyCreated = Static<typeof ApiKeyCreated>;

export const ApiKeyParams = Type.Object({ project_id, key_id: uuid('Id of the key.') });
