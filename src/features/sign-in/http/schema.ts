import { Type, type Static } from '@sinclair/typebox';
import { DEFAULT_ROLE, ROLE_NAMES, ROLES_EXPLAINED } from '../../../engine/identity/roles.js';
import { TOKEN } from '../../../engine/identity/token.js';
import { line, oneOf, orNull, time, uuid } from '../../../engine/schema/parts.js';
import { access, expires_at, scopes } from '../../api-keys/http/schema.js';
import { project_id } from '../../../http/parameters.js';

export const TAG = 'Signing in';

const code = (description: string) =>
  Type.String({
    pattern: TOKEN.source,
    'x-must': 'be a code: the 43 characters behind `#code=`',
    description,
  });

const credentials = {
  code: Type.Optional(code('The code of a URL from the first start, `npm run admin -- signin` or an invitation.')),
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

export const role = oneOf(ROLE_NAMES, `Role in the project. ${ROLES_EXPLAINED}.`);
const anyRole = orNull(role);

/** What an invitation said before there were roles. */
const OLD_ACCESSES = ['full', 'read'] as const;

export const Invite = Type.Object(
  {
    name: line(200, 'Name of the colleague.'),
    role: Type.Optional(
      oneOf(
        ROLE_NAMES,
        `Role of the colleague in the project, at most your own. ${ROLES_EXPLAINED}. Default: \`${DEFAULT_ROLE}\`.`,
      ),
    ),
    access: Type.Optional({
      ...oneOf(OLD_ACCESSES, 'Old way to say `role`: `full` is `admin`, `read` is `viewer`.'),
      deprecated: true,
    }),
  },
  { $id: 'Invite', description: 'A colleague to invite.' },
);

export type Invite = Static<typeof Invite>;

export const InvitationCode = Type.Object(
  { code: code('The code of the URL of an invitation.') },
  { $id: 'InvitationCode', description: 'An invitation to accept.' },
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

export const JoinedProject = Type.Object(
  { id: uuid('Id of the project.'), name: Type.String({ description: 'Name of the project.' }) },
  { $id: 'JoinedProject', description: 'A project that the session has access to from then on.' },
);

export const SignInPreview = Type.Object(
  {
    user: Named('user'),
    projects: Type.Array(
      Type.Object({
        id: uuid('Id of the project.'),
        name: Type.String({ description: 'Name of the project.' }),
        access,
        role: anyRole,
      }),
      { description: 'Projects that the session would have access to, oldest first, with the access to each.' },
    ),
    current: orNull(Named('user')),
    joinable: Type.Boolean({
      description:
        'Whether it is an invitation to a project that the user signed in now has not, and can join as who they are (`joinProject`).',
    }),
  },
  {
    $id: 'SignInPreview',
    description: 'Whom a code or a key signs in. `current`: the user signed in now; null: none.',
  },
);
export type SignInPreview = Static<typeof SignInPreview>;

const browser = orNull(line(64, 'Browser and operating system that it began in; null: unknown.'));

export const SignInRead = Type.Object(
  {
    id: uuid('Id of the sign-in.'),
    stage: oneOf(['code', 'session'], '`code`: a URL that is not used yet; `session`: a person who is signed in.'),
    current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
    user: Named('user'),
    key: Key,
    browser,
    address: orNull(
      line(64, 'Address that it was last used from; null: unknown, or the caller lacks the scope `admin`.'),
    ),
    created_at: time('When the URL was created, or the person signed in.'),
    last_used_at: orNull(time('When it was last used, to about ten minutes; null: never.')),
    expires_at: time(
      'When it ends: a URL unless it is used by then; a session 7 days after its last use, but at most 30 days after it began, or sooner where the operator says so.',
    ),
  },
  { $id: 'SignIn', description: 'A person signed in to the console, or an unused sign-in URL.' },
);
export type SignInRead = Static<typeof SignInRead>;

export const SignedOut = Type.Object(
  { url: Type.String({ description: 'Where the browser goes to sign out at the provider, too.' }) },
  { $id: 'SignedOut', description: 'What is left to do.' },
);

export const OwnSessionRead = Type.Object(
  {
    id: uuid('Id of the sign-in.'),
    current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
    projects: Type.Array(Named('project'), { description: 'Projects that it has access to, oldest first.' }),
    browser,
    address: orNull(line(64, 'Address that it was last used from; null: unknown.')),
    created_at: time('When you signed in.'),
    last_used_at: orNull(time('When it was last used, to about ten minutes; null: never.')),
    expires_at: time(
      'When it ends: 7 days after its last use, but at most 30 days after it began, or sooner where the operator says so.',
    ),
  },
  { $id: 'OwnSession', description: 'A session of the person who is signed in.' },
);
export type OwnSessionRead = Static<typeof OwnSessionRead>;

export const OwnSessionParams = Type.Object({ sign_in_id: uuid('Id of the sign-in.') });

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
    role: anyRole,
    projects: Type.Array(Named('project'), {
      description: 'Projects that the caller can name, oldest first: that of the key, or those of the session.',
    }),
    version: Type.String({ description: 'Version of the server.' }),
    capabilities: Capabilities,
  },
  { $id: 'WhoAmI', description: 'For whom a request acts, and on which server.' },
);
export type WhoAmI = Static<typeof WhoAmI>;
