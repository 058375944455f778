import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a reviewer's browser remembers of one link. */
export interface ReviewMemory {
  /** Name of the reviewer; null until it is given. */
  readonly name: string | null;
  /** Ids of the completions that are gone through, in order: new ones do not push them about meanwhile. */
  readonly round: readonly string[];
}

export interface CookieScope {
  readonly linkId: string;
  /** Path of the link's page. */
  readonly path: string;
  readonly secure: boolean;
}

const NAME = 'spanhouse_review';
const MAX_AGE_SECONDS = 30 * 24 * 3600;
const NOTHING_REMEMBERED: ReviewMemory = { name: null, round: [] };

/** Signs what browsers give back: their memory, and the forms that rely on it. */
export class ReviewSigner {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  /** Value of `Set-Cookie`. */
  remember({ name, round }: ReviewMemory, { linkId, path, secure }: CookieScope): string {
    const ids = Buffer.from(round.join('').replaceAll('-', ''), 'hex').toString('base64url');
    const value = Buffer.from(JSON.stringify([name, ids])).toString('base64url');
    const signed = `${value}.${this.#sign('memory', linkId, value)}`;
    const flags = `Path=${path}; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    return `${NAME}=${signed}; ${flags}`;
  }

  /** @param header value of `Cookie`; nothing is remembered when it holds none of ours for this link */
  recall(header: string | undefined, linkId: string): ReviewMemory {
    const cookie = header
      ?.split(';')
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(`${NAME}=`));
    const [value = '', signature = ''] = cookie?.slice(NAME.length + 1).split('.') ?? [];
    if (!same(signature, this.#sign('memory', linkId, value))) return NOTHING_REMEMBERED;
    const [name, ids] = JSON.parse(Buffer.from(value, 'base64url').toString('utf8')) as [string | null, string];
    return { name, round: idsIn(Buffer.from(ids, 'base64url').toString('hex')) };
  }

  /** Goes into a form that relies on the remembered name: no other site can know it. */
  formValue(linkId: string, completionId: string, name: string): string {
    return this.#sign('form', linkId, `${completionId}\n${name}`);
  }

  isFormValue(given: string, linkId: string, completionId: string, name: string): boolean {
    return same(given, this.formValue(linkId, completionId, name));
  }

  #sign(purpose: string, linkId: string, value: string): string {
    return createHmac('sha256', this.#secret).update(`${purpose}\n${linkId}\n${value}`).digest('base64url');
  }
}

function same(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function idsIn(hex: string): string[] {
  const ids = hex.match(/[0-9a-f]{32}/g) ?? [];
  return ids.map((id) => id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'));
}
