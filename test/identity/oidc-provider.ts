import { createServer, type RequestListener, type Server } from 'node:http';
import { generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { nodeFolderWith } from '../harness/foreign-packages.js';

const { cwd, install } = nodeFolderWith({
  folder: 'spanhouse-oidc-provider-9.13',
  packages: ['oidc-provider@9.13.3'],
  check: "await import('oidc-provider')",
});

/** Whether the provider can be had here. */
export const installed = install;

export const CLIENT = { id: 'spanhouse', secret: 'a secret of the client' };

/** What the provider says of somebody. */
export type Claims = Readonly<Record<string, unknown>>;

interface Key {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

interface Module {
  readonly Provider: new (
    issuer: string,
    configuration: object,
  ) => {
    callback(): RequestListener;
    use(middleware: (context: any, next: () => Promise<void>) => Promise<void>): void;
  };
}

/** `oidc-provider`, certified by the OpenID Foundation, on this machine. */
export class RunningProvider {
  readonly people = new Map<string, Claims>();
  /** Changes the claims of ID tokens, which are signed again then. */
  tamper: ((claims: Record<string, unknown>) => Record<string, unknown>) | null = null;
  /** Signs tampered tokens; null: the key that the provider publishes. */
  foreignKey: Key | null = null;
  readonly #server: Server;
  readonly #module: Module;
  #listener: RequestListener = (_request, response) => response.end();
  #key: Key = newKey();
  readonly #backTo: () => string;

  private constructor(module: Module, backTo: () => string) {
    this.#module = module;
    this.#backTo = backTo;
    this.#server = createServer((request, response) => this.#listener(request, response));
  }

  /** @param backTo base of the server whose people it signs in */
  static async start(backTo: () => string): Promise<RunningProvider> {
    const file = pathToFileURL(join(cwd, 'node_modules/oidc-provider/lib/index.js')).href;
    const provider = new RunningProvider((await import(file)) as Module, backTo);
    await new Promise<void>((listening) => provider.#server.listen(0, '127.0.0.1', listening));
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Begins, or begins again, with a key of its own; nobody is signed in any more. */
  renew(): void {
    this.#key = newKey();
    const { Provider } = this.#module;
    const provider = new Provider(this.issuer, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [`${this.#backTo()}/console/sso/callback`],
          post_logout_redirect_uris: [`${this.#backTo()}/console`],
        },
      ],
      jwks: {
        keys: [{ ...this.#key.privateKey.export({ format: 'jwk' }), kid: this.#key.kid, alg: 'RS256', use: 'sig' }],
      },
      cookies: { keys: ['of a test'] },
      scopes: ['openid', 'profile', 'email', 'groups'],
      claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], groups: ['groups'] },
      conformIdTokenClaims: false,
      findAccount: (_context: unknown, sub: string) => ({
        accountId: sub,
        claims: () => ({ sub, ...this.people.get(sub) }),
      }),
    });
    provider.use(async (context, next) => {
      await next();
      if (context.path === '/token' && this.tamper !== null && context.body?.id_token !== undefined)
        context.body.id_token = this.#signed(this.tamper(claimsOf(context.body.id_token as string)));
    });
    this.#listener = provider.callback();
  }

  stop(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((closed) => this.#server.close(closed));
  }

  #signed(claims: Record<string, unknown>): string {
    const { kid, privateKey } = this.foreignKey ?? this.#key;
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'RS256', typ: 'JWT', kid })}.${part(claims)}`;
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  }
}

export function newKey(): Key {
  return { kid: randomUUID(), privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey };
}

function claimsOf(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;
}

/** A browser that follows redirects, keeps cookies of each host, and fills in the forms of the provider. */
export class FollowingBrowser {
  readonly #cookies = new Map<string, Map<string, string>>();

  async get(url: string, init: RequestInit = {}): Promise<Response> {
    const { host } = new URL(url);
    const jar = this.#cookies.get(host) ?? new Map<string, string>();
    this.#cookies.set(host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(init.headers as Record<string, string>), ...(cookie !== '' && { cookie }) };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  /** The URL that the provider sends the browser back to. */
  async through(start: string, login: string, until: string): Promise<string> {
    let url = start;
    let response = await this.get(url);
    for (let steps = 0; steps < 20; steps += 1) {
      const location = response.headers.get('location');
      if (location !== null) {
        url = new URL(location, url).href;
        if (url.startsWith(until)) return url;
        response = await this.get(url);
        continue;
      }
      const page = await response.text();
      const prompt = /name="prompt" value="(\w+)"/.exec(page)?.[1];
      if (prompt === undefined) throw new Error(`${response.status} ${url}: ${page.slice(0, 500)}`);
      const body = new URLSearchParams({ prompt, login, password: 'any' });
      response = await this.get(url, { method: 'POST', body });
    }
    throw new Error('The provider never sends the browser back');
  }
}
