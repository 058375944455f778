/** Longest that someone may take at the provider, in seconds. */
const LASTS_SECONDS = 600;
const ATTEMPT = /^\d{13}\.[\w-]{43}$/;

export interface AttemptCookieParts {
  /** What this installation is told apart by: cookies do not know ports. */
  readonly installation: string;
  /** Base of the URLs handed out. */
  readonly baseUrl: () => string;
  /** Path of the routes that need it, below the base. */
  readonly path: string;
}

/** The cookie that says in which browser a sign-in at the provider was started. It has to come along from there: it is not strict. */
export class AttemptCookie {
  readonly #parts: AttemptCookieParts;

  constructor(parts: AttemptCookieParts) {
    this.#parts = parts;
  }

  get #name(): string {
    return `spanhouse_sso_${this.#parts.installation}`;
  }

  /** Value of `Set-Cookie`. */
  keeping(attempt: string): string {
    const { protocol, pathname } = new URL(this.#parts.baseUrl());
    const path = pathname.replace(/\/$/, '') + this.#parts.path;
    const secure = protocol === 'https:' ? '; Secure' : '';
    return `${this.#name}=${attempt}; Path=${path}; Max-Age=${LASTS_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
  }

  /** The attempt in a `Cookie` header; null: there is none. */
  in(header: string | undefined): string | null {
    const start = `${this.#name}=`;
    const found = (header ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(start))
      ?.slice(start.length);
    return found !== undefined && ATTEMPT.test(found) ? found : null;
  }
}
