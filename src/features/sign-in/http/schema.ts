import { Type, type Static } from '@sinclair/typebox';
import { PERSON_ACCESSES } from '../../../engine/identity/key-access.js';
import { TOKEN } from '../../../engine/identity/token.js';
import { line, oneOf, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { access, expires_at, scopes } from '../../api-keys/http/schema.js';
import { project_id } from '../../../http/parameters.js';

export const TAG = 'Signing in';

const credentials = {
  code: Type.Optional(
    Type.String({
      pattern: TOKEN.source,
      'x-must': 'be a code: the 43 characters behind `#code=`',
      description: 'The code of a URL from the first start, `npm run admin -- signin` or an invitation.',
    }),
  ),
  key: Type.Optional(
    Type.String({
      pattern: '^[\\x21-\\x7e]{1,512}$',
      'x-must': 'be an API key',
      description: 'An API key, instead of a code.',
    }),
  ),
};

/** What to sign in with. */
export const SignInCredentials = Type.Object(credentials, {
  $id: 'SignInCredentials',
  description: 'Either `code` or `key`.',
});
export type SignInCredentials = Static<typeof SignInCredentials>;

export const SignInRequest = Type.Object(
  {
    ...credentials,
    replace: Type.Optional(
      Type.Boolean({ description: 'Whether to end the session of another user in this browser. Default: false.' }),
    ),
  },
  { $id: 'SignInRequest', description: 'What to sign in with: either `code` or `key`.' },
);
export type SignInRequest = Static<typeof SignInRequest>;

/** A console that sends nothing and changes nothing still shows all; one that only sends shows nothing. */
const invitedAccess = oneOf(PERSON_ACCESSES, "Access of the colleague's key: everything, or only read.", 'full');

export const Invite = Type.Object(
  { name: line(200, 'Name of the colleague.'), access: Type.Optional(invitedAccess) },
  { $id: 'Invite', description: 'A colleague to invite.' },
);

const Named = (what: string) =>
  Type.Object(
    { id: uuid(`Id of the ${what}.`), name: Type.String({ description: `Name of the ${what}.` }) },
    { description: `The ${what}.` },
  );
const Key = Type.Object(
  { id: uuid('Id of the key.'), name: Type.String({ description: 'Name of the key.' }), access },
  { description: 'The API key of the request.' },
);

export const Invitation = Type.Object(
  {
    url: Type.String({ description: 'URL that signs the colleague in once. It is shown only here.' }),
    expires_at: time('When the URL expires.'),
    user: Named('user'),
  },
  { $id: 'Invitation', description: 'A new invitation.' },
);
export type Invitation = Static<typeof Invitation>;

export const SignInPreview = Type.Object(
  {
    user: Named('user'),
    projects: Type.Array(
      Type.Object({
        id: uuid('Id of the project.'),
        name: Type.String({ description: 'Name of the project.' }),
        access,
      }),
      { description: 'Projects that the session would have access to, oldest first, with the access to each.' },
    ),
    current: orNull(Named('user')),
  },
  {
    $id: 'SignInPreview',
    description: 'Whom a code or a key signs in. `current`: the user signed in now; null: none.',
  },
);
export type SignInPreview = Static<typeof SignInPreview>;

export const SignInRead = Type.Object(
  {
    id: uuid('Id of the sign-in.'),
    stage: oneOf(['code', 'session'], '`code`: a URL that is not used yet; `session`: a person who is signed in.'),
    current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
    user: Named('user'),
    key: Key,
    created_at: time('When the URL was created, or the person signed in.'),
    last_used_at: orNull(time('When it was last used, to about ten minutes; null: never.')),
    expires_at: time(
      'When it ends: a URL unless it is used by then; a session 7 days after its last use, but at most 30 days after it began.',
    ),
  },
  { $id: 'SignIn', description: 'A person signed in to the console, or an unused sign-in URL.' },
);
export type SignInRead = Static<typeof SignInRead>;

export const SignInParams = Type.Object({ project_id, sign_in_id: uuid('Id of the sign-in.') });

export const Capabilities = Type.Object(
  {
    judges: Type.Boolean({ description: 'Whether a model endpoint is configured, so that judges run.' }),
    judge_model: orNull(Type.String({ description: 'Default model of judges; null: none is set.' })),
    otlp_grpc: Type.Boolean({ description: 'Whether OTLP over gRPC is enabled.' }),
    public_url: Type.Boolean({
      description: 'Whether `PUBLIC_URL` is set, so that feedback links and invitations work on other machines.',
    }),
    docs: Type.Boolean({ description: 'Whether `/docs` shows the documentation.' }),
  },
  { description: 'Capabilities of this server.' },
);
export type Capabilities = Static<typeof Capabilities>;

export const WhoAmI = Type.Object(
  {
    user: Named('user'),
    project: Named('project'),
    key: Type.Object({ ...Key.properties, scopes, expires_at }, { description: 'The API key of the request.' }),
    projects: Type.Array(Named('project'), {
      description: 'Projects that the caller can name, oldest first: that of the key, or those of the session.',
    }),
    version: Type.String({ description: 'Version of the server.' }),
    capabilities: Capabilities,
  },
  { $id: 'WhoAmI', description: 'For whom a request acts, and on which server.' },
);
export type WhoAmI = Static<typeof WhoAmI>;
