import { Type, type Static } from '@sinclair/typebox';
import { KEY_ACCESSES } from '../../../../domain/identity/key-access.js';
import { TOKEN } from '../../../../domain/identity/token.js';
import { line, oneOf, orNull, time, uuid } from '../../../../domain/schema/parts.js';
import { access } from '../api-keys/schema.js';
import { project_id } from '../parameters.js';

export const TAG = 'Signing in';

const credentials = {
  code: Type.Optional(
    Type.String({
      pattern: TOKEN.source,
      'x-must': 'be a code: the 43 characters behind `#code=`',
      description: 'The code of a URL that the first start, `npm run admin -- signin` or an invitation gave.',
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
      Type.Boolean({ description: 'Whether to end the sign-in of another user that the browser has. Default: false.' }),
    ),
  },
  { $id: 'SignInRequest', description: 'What to sign in with: either `code` or `key`.' },
);
export type SignInRequest = Static<typeof SignInRequest>;

/** A console that sends nothing and changes nothing still shows all; one that only sends shows nothing. */
const invitedAccess = oneOf(
  KEY_ACCESSES.filter((name) => name !== 'ingest'),
  'What the key of the colleague may do: everything, or only read.',
  'full',
);

export const Invite = Type.Object(
  { name: line(200, 'Name of the colleague.'), access: Type.Optional(invitedAccess) },
  { $id: 'Invite', description: 'A colleague to be invited.' },
);

const Named = (what: string) =>
  Type.Object(
    { id: uuid(`Id of the ${what}.`), name: Type.String({ description: `Name of the ${what}.` }) },
    { description: `The ${what}.` },
  );
const Key = Type.Object(
  { id: uuid('Id of the key.'), name: Type.String({ description: 'Name of the key.' }), access },
  { description: 'The API key that is acted for.' },
);

export const Invitation = Type.Object(
  {
    url: Type.String({ description: 'URL that signs the colleague in, once. Shown here and never again.' }),
    expires_at: time('When the URL stops working.'),
    user: Named('user'),
  },
  { $id: 'Invitation', description: 'An invitation that was made now.' },
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
      { description: 'Projects that the sign-in would open, the oldest first, with the access to each.' },
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
    stage: oneOf(
      ['code', 'session'],
      '`code`: a URL was given that nobody has used yet; `session`: somebody is signed in.',
    ),
    current: Type.Boolean({ description: 'Whether it is the one that the request itself came by.' }),
    user: Named('user'),
    key: Key,
    created_at: time('When the URL was given, or the person signed in.'),
    last_used_at: orNull(time('When it was last used, to about ten minutes; null: never.')),
    expires_at: time(
      'When it ends unless it is used: a URL for good, a session 7 days after its last use, 30 at most.',
    ),
  },
  { $id: 'SignIn', description: 'A person signed in to the console, or a URL by which one may.' },
);
export type SignInRead = Static<typeof SignInRead>;

export const SignInParams = Type.Object({ project_id, sign_in_id: uuid('Id of the sign-in.') });

export const Capabilities = Type.Object(
  {
    judges: Type.Boolean({ description: 'Whether an endpoint of models is configured, so that judges run.' }),
    judge_model: orNull(Type.String({ description: 'Model that judges ask by default; null: none is set.' })),
    otlp_grpc: Type.Boolean({ description: 'Whether OTLP is taken over gRPC, too.' }),
    public_url: Type.Boolean({
      description: 'Whether `PUBLIC_URL` is set, so that feedback links and invitations open on other machines.',
    }),
    docs: Type.Boolean({ description: 'Whether `/docs` shows the documentation.' }),
  },
  { description: 'What this server can do.' },
);
export type Capabilities = Static<typeof Capabilities>;

export const WhoAmI = Type.Object(
  {
    user: Named('user'),
    project: Named('project'),
    key: Key,
    projects: Type.Array(Named('project'), {
      description: 'Projects that the caller can name, the oldest first: that of the key, or those of the sign-in.',
    }),
    version: Type.String({ description: 'Version of the server.' }),
    capabilities: Capabilities,
  },
  { $id: 'WhoAmI', description: 'For whom a request acts, and on what server.' },
);
export type WhoAmI = Static<typeof WhoAmI>;
