import { Type } from '@sinclair/typebox';
import { DomainError } from '../../../engine/errors.js';
import type { ExternalPerson, ExternalSignInService } from '../../../engine/identity/external-sign-in-service.js';
import type { Signals } from '../../../engine/signals/signals.js';
import { basePath } from '../../../http/base-path.js';
import { MinuteLimit } from '../../../http/minute-limit.js';
import { queryOf } from '../../../http/query.js';
import { defineRoute, type Opening } from '../../../http/route.js';
import type { SessionCookie } from '../../../http/session-cookie.js';
import { clientAddress, networkOf } from '../../../http/wire/client-address.js';
import { originOf, requestOf } from '../../sign-in/http/origin.js';
import type { AttemptCookie } from '../attempt-cookie.js';
import type { Provider } from '../provider.js';
import { personOfProxy } from '../proxy-person.js';
import type { ProxySettings } from '../settings.js';
import { errorPages } from './error-page.js';

/** Below it are all routes of single sign-on. */
export const SSO_PATH = '/console/sso';
export const CALLBACK_PATH = `${SSO_PATH}/callback`;

const TAG = 'Signing in';
/** Attempts of one address. */
const ATTEMPTS_PER_MINUTE = 60;
/** What any provider answers is shorter. */
const MAX_PARAMETER = 8_192;

export interface SingleSignOnRoutesParts {
  readonly externals: ExternalSignInService;
  /** Null: none is configured. */
  readonly provider: Provider | null;
  /** Null: no proxy may sign people in. */
  readonly proxy: ProxySettings | null;
  readonly attempt: AttemptCookie;
  readonly cookie: Pick<SessionCookie, 'keeping'>;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  readonly trustedProxies: number;
  readonly observer: Pick<Signals, 'signedIn' | 'signInAttempted'>;
}

/** Signing in by OpenID Connect, or by a proxy in front. What is not configured is not there. */
export function singleSignOnRoutes(parts: SingleSignOnRoutesParts) {
  const limit = new MinuteLimit(ATTEMPTS_PER_MINUTE, 'sign-ins');
  const addressOf = ({ headers, remoteAddress }: From) =>
    networkOf(clientAddress(headers, remoteAddress, parts.trustedProxies));
  const shared = {
    admit: (opening: From) => limit.take(addressOf(opening)),
    renderError: errorPages(parts.baseUrl),
  };
  const open = async (find: () => ExternalPerson | Promise<ExternalPerson>, from: Request) => {
    const request = requestOf(from, parts.trustedProxies);
    try {
      const { token } = parts.externals.signIn(await find(), originOf(from, parts.trustedProxies), request);
      parts.observer.signedIn();
      return redirect(`${parts.baseUrl()}/console`, parts.cookie.keeping(token));
    } catch (error) {
      const kind = error instanceof DomainError ? error.kind : null;
      if (kind === 'unauthenticated' || kind === 'forbidden')
        parts.observer.signInAttempted({ result: kind, address: request.address });
      throw error;
    }
  };
  const { provider, proxy } = parts;
  return [
    ...(provider === null ? [] : providerRoutes({ ...parts, provider, shared, open })),
    ...(proxy === null ? [] : [proxyRoute({ proxy, shared, open })]),
  ];
}

type From = Pick<Opening<unknown>, 'headers' | 'remoteAddress'>;
type Request = From & { readonly requestId: string };

interface Shared {
  readonly shared: {
    readonly admit: (opening: From) => Promise<void>;
    readonly renderError: ReturnType<typeof errorPages>;
  };
  readonly open: (
    find: () => ExternalPerson | Promise<ExternalPerson>,
    from: Request,
  ) => Promise<ReturnType<typeof redirect>>;
}

function redirect(location: string, cookie: string) {
  const headers = {
    Location: location,
    'Set-Cookie': cookie,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
  };
  return { status: 303, content: '', contentType: 'text/plain', headers } as const;
}

const REDIRECTED = {
  303: {
    description: 'Where the browser goes next.',
    contentType: 'text/plain',
    headers: { Location: 'The next page.', 'Set-Cookie': 'The cookie.' },
    schema: Type.String({ description: 'Nothing.' }),
  },
};

const part = (description: string) => Type.Optional(Type.String({ maxLength: MAX_PARAMETER, description }));
const Callback = Type.Object({
  code: part('The code of the provider.'),
  state: part('What the start sent along.'),
  iss: part('The issuer.'),
  session_state: part('A state of the session at the provider.'),
  error: part('Why the provider refused.'),
  error_description: part('The same in words.'),
  error_uri: part('A page about it.'),
});

function providerRoutes({
  provider,
  attempt,
  shared,
  open,
}: Shared & Pick<SingleSignOnRoutesParts, 'attempt'> & { readonly provider: Provider }) {
  return [
    defineRoute({
      ...shared,
      method: 'GET',
      path: `${SSO_PATH}/start`,
      operationId: 'startSingleSignOn',
      summary: 'Sign in by single sign-on',
      description:
        'Redirects the browser to the OpenID Connect provider (`OIDC_ISSUER`), which sends it back to `/console/sso/callback`.',
      tag: TAG,
      access: 'public',
      hidden: true,
      responses: REDIRECTED,
      errors: ['overloaded', 'unavailable'],
      async handle() {
        const begun = await provider.begin();
        return redirect(begun.url, attempt.keeping(begun.attempt));
      },
    }),
    defineRoute({
      ...shared,
      method: 'GET',
      path: CALLBACK_PATH,
      operationId: 'finishSingleSignOn',
      summary: 'Return from single sign-on',
      description: 'Reads the response of the provider, signs the person in, and redirects the browser to the console.',
      tag: TAG,
      access: 'public',
      hidden: true,
      query: queryOf(Callback),
      responses: REDIRECTED,
      errors: ['unauthenticated', 'forbidden', 'overloaded', 'unavailable'],
      handle({ query, headers, remoteAddress, requestId }) {
        const answer = new URLSearchParams(given(query));
        return open(() => provider.finish(answer, attempt.in(headers.cookie)), {
          headers,
          remoteAddress,
          requestId,
        });
      },
    }),
  ];
}

function given(query: Readonly<Record<string, string | undefined>>): [string, string][] {
  return Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

function proxyRoute({ proxy, shared, open }: Shared & { readonly proxy: ProxySettings }) {
  return defineRoute({
    ...shared,
    method: 'GET',
    path: `${SSO_PATH}/proxy`,
    operationId: 'signInByProxy',
    summary: 'Sign in by a proxy',
    description:
      'Signs in the person whom a trusted proxy names in a header (`SIGN_IN_PROXY_HEADER`). From any other address, the header is ignored.',
    tag: TAG,
    access: 'public',
    hidden: true,
    responses: REDIRECTED,
    errors: ['unauthenticated', 'forbidden', 'overloaded', 'unavailable'],
    handle: ({ headers, remoteAddress, requestId }) =>
      open(() => personOfProxy(proxy, headers, remoteAddress), { headers, remoteAddress, requestId }),
  });
}

/** Where the console begins single sign-on; null: there is none. */
export function startPath({ provider, proxy }: Pick<SingleSignOnRoutesParts, 'provider' | 'proxy'>, baseUrl: string) {
  const path = provider !== null ? 'start' : proxy !== null ? 'proxy' : null;
  return path === null ? null : `${basePath(baseUrl)}${SSO_PATH}/${path}`;
}
