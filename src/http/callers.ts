import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '../engine/errors.js';
import type { Principal } from '../engine/identity/identity.js';
import type { IdentityService } from '../engine/identity/identity-service.js';
import type { SignIn } from '../engine/identity/sign-in.js';
import type { SignInService } from '../engine/identity/sign-in-service.js';
import { requireOwnOrigin } from './own-origin.js';
import type { SessionCookie } from './session-cookie.js';
import { clientAddress } from './wire/client-address.js';

/** Header that names the project of a request with the cookie. No other site can send it without being asked about first. */
export const PROJECT_HEADER = 'Spanhouse-Project';

export interface AuthenticateOptions {
  /** A person who signed in to several projects need not say which. */
  readonly anyProject?: boolean;
  /** The other end of the connection. */
  readonly remoteAddress?: string;
}

export interface CallersParts {
  readonly identity: Pick<IdentityService, 'authenticate' | 'requireProject' | 'requireStanding'>;
  readonly signIns: Pick<SignInService, 'session' | 'principal'>;
  readonly cookie: Pick<SessionCookie, 'tokensIn'>;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  /** How many proxies in front add to `X-Forwarded-For`. */
  readonly trustedProxies: number;
}

/** Finds out for whom a request acts: by its API key, else by the cookie of a person who signed in to the console. */
export class Callers {
  readonly #parts: CallersParts;

  constructor(parts: CallersParts) {
    this.#parts = parts;
  }

  /**
   * For whom a request acts.
   * @throws DomainError `unauthenticated`, `forbidden`
   */
  authenticate(
    headers: IncomingHttpHeaders,
    { anyProject = false, remoteAddress = '' }: AuthenticateOptions = {},
  ): Principal {
    const { identity, signIns, trustedProxies } = this.#parts;
    const authorization = headers.authorization ?? keyHeader(headers);
    const from = () => clientAddress(headers, remoteAddress, trustedProxies);
    if (authorization !== undefined || headers.cookie === undefined) return identity.authenticate(authorization, from);
    const tokens = this.#tokensOf(headers);
    if (tokens.length === 0) return identity.authenticate(undefined);
    const project = headers[PROJECT_HEADER.toLowerCase()];
    if (project === undefined && !anyProject)
      throw new DomainError('forbidden', `Requests with the console cookie need the header ${PROJECT_HEADER}`);
    const session = this.#sessionOf(tokens);
    if (session === undefined) throw new DomainError('unauthenticated', 'The session has ended: sign in again');
    return signIns.principal(session, typeof project === 'string' ? project : null, from);
  }

  /** The session that a cookie stands for. @throws DomainError `forbidden` for a request of another site's page */
  session(headers: IncomingHttpHeaders): SignIn | undefined {
    return this.#sessionOf(this.#tokensOf(headers));
  }

  /** Whose session a request for a page has. Wherever a link to the page is followed, no other site can read the page. */
  reader({ cookie = '' }: IncomingHttpHeaders): SignIn | undefined {
    return this.#sessionOf(this.#parts.cookie.tokensIn(cookie));
  }

  #tokensOf(headers: IncomingHttpHeaders): string[] {
    const tokens = this.#parts.cookie.tokensIn(headers.cookie ?? '');
    if (tokens.length > 0) requireOwnOrigin(headers, this.#parts.baseUrl());
    return tokens;
  }

  #sessionOf(tokens: readonly string[]): SignIn | undefined {
    for (const token of tokens) {
      const session = this.#parts.signIns.session(token);
      if (session !== undefined) return session;
    }
    return undefined;
  }

  /** @throws DomainError `forbidden` */
  requireProject(principal: Principal, projectId: string): void {
    this.#parts.identity.requireProject(principal, projectId);
  }

  /** @throws DomainError `unauthenticated` when the principal's project was deleted since */
  requireStanding(principal: Principal): void {
    this.#parts.identity.requireStanding(principal);
  }
}

/** The header by which clients of LangSmith send a key, as what `Authorization` would say. */
function keyHeader({ 'x-api-key': key }: IncomingHttpHeaders): string | undefined {
  return typeof key === 'string' ? `Bearer ${key}` : undefined;
}
