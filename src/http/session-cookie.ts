import { TOKEN } from '../engine/identity/token.js';

/** Enough for a browser that has one left of another path; the rest is no browser's. */
const MAX_TOKENS = 4;

export interface SessionCookieParts {
  /** What this installation is told apart by: cookies do not know ports. */
  readonly installation: string;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  readonly maxAgeSeconds: number;
}

/** The cookie that holds the secret of a session of the console. */
export class SessionCookie {
  readonly #parts: SessionCookieParts;

  constructor(parts: SessionCookieParts) {
    this.#parts = parts;
  }

  /** A browser takes a name that begins with `__Host-` from this host alone, and not from one beside or below it. */
  get #name(): string {
    const { protocol, pathname } = new URL(this.#parts.baseUrl());
    return `${protocol === 'https:' && pathname === '/' ? '__Host-' : ''}spanhouse_${this.#parts.installation}`;
  }

  /** Secrets in a `Cookie` header: more than one where cookies of several paths or domains apply, the nearest first. */
  tokensIn(header: string): string[] {
    const start = `${this.#name}=`;
    if (!header.includes(start)) return [];
    return header
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(start))
      .map((pair) => pair.slice(start.length))
      .filter((token) => TOKEN.test(token))
      .slice(0, MAX_TOKENS);
  }

  /** Value of `Set-Cookie` that keeps a secret. */
  keeping(token: string): string {
    return this.#value(token, this.#parts.maxAgeSeconds);
  }

  /** Value of `Set-Cookie` that takes the cookie away. */
  removing(): string {
    return this.#value('', 0);
  }

  #value(token: string, maxAge: number): string {
    const { protocol, pathname } = new URL(this.#parts.baseUrl());
    const secure = protocol === 'https:' ? '; Secure' : '';
    return `${this.#name}=${token}; Path=${pathname}; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
  }
}
