import { createHmac, randomBytes } from 'node:crypto';
import * as client from 'openid-client';
import { DomainError } from '../../engine/errors.js';
import { namesIn, rolesOfGroups } from './group-roles.js';
import type { OidcSettings } from './settings.js';
import type { ExternalPerson } from '../../engine/identity/external-sign-in-service.js';

/** How long someone may take at the provider. */
const ATTEMPT_LASTS_MS = 10 * 60_000;
/** How far the clock of the provider may be from ours. */
const CLOCK_TOLERANCE_SECONDS = 60;
const TIMEOUT_SECONDS = 10;
/** What the provider says of itself is asked again after that long. */
const DISCOVERED_LASTS_MS = 3_600_000;
/** Attempts that are remembered as used, so that none counts twice. */
const MAX_USED = 10_000;
const MAX_NAME = 200;
const MAX_SUBJECT = 255;

/** Where a browser is sent, and what it has to bring back. */
export interface BegunAttempt {
  readonly url: string;
  /** Secret of the attempt, for a cookie of the browser. */
  readonly attempt: string;
}

export interface ProviderParts {
  readonly settings: OidcSettings;
  /** Signs nothing else. */
  readonly secret: Buffer;
  /** Where the provider sends browsers back to. */
  readonly redirectUri: () => string;
  readonly now?: () => number;
  readonly onFailed: (error: unknown) => void;
}

/** The provider of single sign-on: OpenID Connect, authorization code with PKCE, state and nonce. */
export class Provider {
  readonly #parts: ProviderParts;
  readonly #now: () => number;
  #discovered: { readonly configuration: Promise<client.Configuration>; readonly at: number } | null = null;
  /** Attempts that were answered, with when they would have ended. */
  readonly #used = new Map<string, number>();

  constructor(parts: ProviderParts) {
    this.#parts = parts;
    this.#now = parts.now ?? Date.now;
  }

  /** @throws DomainError `unavailable` when the provider does not answer */
  async begin(): Promise<BegunAttempt> {
    const configuration = await this.#configuration();
    const attempt = `${this.#now()}.${randomBytes(32).toString('base64url')}`;
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#parts.redirectUri(),
      scope: this.#parts.settings.scopes,
      response_type: 'code',
      state: this.#derived('state', attempt),
      nonce: this.#derived('nonce', attempt),
      code_challenge: await client.calculatePKCECodeChallenge(this.#derived('verifier', attempt)),
      code_challenge_method: 'S256',
    });
    return { url: url.href, attempt };
  }

  /**
   * Who came back from the provider.
   * @param query what the provider had the browser bring, as it stands in the address
   * @throws DomainError `unauthenticated` for an answer that is none of this browser's attempt, or proves nothing; `forbidden`
   *   for someone who may not sign in; `unavailable`
   */
  async finish(query: URLSearchParams, attempt: string | null): Promise<ExternalPerson> {
    if (attempt === null || !this.#take(attempt))
      throw new DomainError(
        'unauthenticated',
        'This sign-in was not started in this browser, was used already, or took too long',
      );
    const configuration = await this.#configuration();
    const answer = new URL(this.#parts.redirectUri());
    answer.search = query.toString();
    try {
      const tokens = await client.authorizationCodeGrant(configuration, answer, {
        pkceCodeVerifier: this.#derived('verifier', attempt),
        expectedState: this.#derived('state', attempt),
        expectedNonce: this.#derived('nonce', attempt),
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new DomainError('unauthenticated', 'The provider sent no ID token');
      return this.#personOf(claims);
    } catch (error) {
      throw this.#refusal(error);
    }
  }

  /** Where a browser signs out at the provider; null: it offers nothing for that. */
  async signOutUrl(backTo: string): Promise<string | null> {
    try {
      const configuration = await this.#configuration();
      if (configuration.serverMetadata().end_session_endpoint === undefined) return null;
      return client.buildEndSessionUrl(configuration, { post_logout_redirect_uri: backTo }).href;
    } catch {
      return null;
    }
  }

  #personOf(claims: client.IDToken): ExternalPerson {
    const { settings } = this.#parts;
    const email = claims['email_verified'] === true && typeof claims['email'] === 'string' ? claims['email'] : null;
    requireDomain(settings.allowedDomains, email);
    if (claims.sub.length > MAX_SUBJECT)
      throw new DomainError('unauthenticated', 'The subject of the provider is too long');
    const named = [claims['name'], claims['preferred_username'], email].find(
      (one): one is string => typeof one === 'string' && one.trim() !== '',
    );
    const groups = claims[settings.groupsClaim];
    return {
      provider: 'oidc',
      issuer: claims.iss,
      subject: claims.sub,
      name: (named ?? claims.sub).slice(0, MAX_NAME),
      email,
      roles: settings.groupRoles === null ? null : rolesOfGroups(settings.groupRoles, namesIn(groups)),
    };
  }

  /** Of an attempt, what no one can guess who has not its secret and ours. 43 characters, as PKCE wants. */
  #derived(purpose: 'state' | 'nonce' | 'verifier', attempt: string): string {
    return createHmac('sha256', this.#parts.secret).update(`${purpose}\n${attempt}`).digest('base64url');
  }

  /** Whether an attempt is in progress, which it is no longer then. */
  #take(attempt: string): boolean {
    const now = this.#now();
    for (const [used, until] of this.#used) {
      if (until > now && this.#used.size < MAX_USED) break;
      this.#used.delete(used);
    }
    const began = Number(/^(\d{13})\.[\w-]{43}$/.exec(attempt)?.[1] ?? NaN);
    if (!(began <= now && now - began < ATTEMPT_LASTS_MS) || this.#used.has(attempt)) return false;
    this.#used.set(attempt, now + ATTEMPT_LASTS_MS);
    return true;
  }

  /** What failed, in words for the person; the rest is for the log. */
  #refusal(error: unknown): DomainError {
    if (error instanceof DomainError) return error;
    this.#parts.onFailed(error);
    // Its keys may be others by now: the next attempt asks for them.
    this.#discovered = null;
    if (error instanceof client.AuthorizationResponseError)
      return new DomainError('unauthenticated', `The provider refused the sign-in (${error.error.slice(0, 100)})`, {
        cause: error,
      });
    if (error instanceof client.ResponseBodyError)
      return new DomainError(
        'unauthenticated',
        `The provider did not accept the sign-in (${error.error.slice(0, 100)}): start again`,
        { cause: error },
      );
    if (isOutOfReach(error))
      return new DomainError('unavailable', 'The provider of single sign-on does not respond', {
        retryAfterSeconds: 10,
        cause: error,
      });
    return new DomainError(
      'unauthenticated',
      'The answer of the provider is not valid: start again. The server log says why',
      { cause: error },
    );
  }

  #configuration(): Promise<client.Configuration> {
    const now = this.#now();
    if (this.#discovered === null || now - this.#discovered.at > DISCOVERED_LASTS_MS) {
      const discovered = { configuration: this.#discover(), at: now };
      this.#discovered = discovered;
      // What failed is tried again with the next sign-in.
      discovered.configuration.catch(() => {
        if (this.#discovered === discovered) this.#discovered = null;
      });
    }
    return this.#discovered.configuration;
  }

  async #discover(): Promise<client.Configuration> {
    const { issuer, clientId, clientSecret } = this.#parts.settings;
    const execute = [
      client.enableNonRepudiationChecks,
      // A provider without TLS is one on this machine: the settings say so.
      // eslint-disable-next-line @typescript-eslint/no-deprecated
      ...(issuer.startsWith('http://') ? [client.allowInsecureRequests] : []),
    ];
    const metadata = { [client.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    const authentication: client.ClientAuth = (as, ...rest) => methodFor(as, clientSecret)(as, ...rest);
    try {
      const options = { execute, timeout: TIMEOUT_SECONDS };
      return await client.discovery(new URL(issuer), clientId, metadata, authentication, options);
    } catch (error) {
      this.#parts.onFailed(error);
      throw new DomainError('unavailable', 'The provider of single sign-on does not respond', {
        retryAfterSeconds: 10,
        cause: error,
      });
    }
  }
}

/** How this server says who it is: as the provider takes it. Without a word of that, as the standard says. */
function methodFor({ token_endpoint_auth_methods_supported: taken }: client.ServerMetadata, secret: string | null) {
  if (secret === null) return client.None();
  const isBasic = taken === undefined || taken.includes('client_secret_basic');
  return isBasic ? client.ClientSecretBasic(secret) : client.ClientSecretPost(secret);
}

/** @throws DomainError `forbidden` */
function requireDomain(allowed: readonly string[] | null, email: string | null): void {
  if (allowed === null) return;
  if (email === null)
    throw new DomainError(
      'forbidden',
      'The provider has not verified your email address, which has to be of an allowed domain',
    );
  const domain = email.slice(email.lastIndexOf('@') + 1).toLowerCase();
  if (!allowed.includes(domain)) throw new DomainError('forbidden', 'Your email address is not of an allowed domain');
}

/** Whether the provider was not reached at all. */
function isOutOfReach(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'TimeoutError' || error instanceof TypeError || isOutOfReach(error.cause);
}
