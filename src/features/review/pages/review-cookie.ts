import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { ReviewerClaim } from '../reviewer.js';

/** State of one feedback link that the reviewer's browser remembers. */
export interface ReviewMemory {
  /** Name of the reviewer; null until it is given. */
  readonly name: string | null;
  /** Secret that makes this browser's reviewers its own; empty in memories from before there were any. */
  readonly holder: string;
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

type RememberedReviewer = Pick<ReviewerClaim, 'name' | 'holder'>;
type Remembered = [name: string | null, ids: string, holder?: string];

/** Signs what browsers give back: their memory, and the forms that rely on it. */
export class ReviewSigner {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  /** Value of `Set-Cookie`. */
  remember({ name, holder, round }: ReviewMemory, { linkId, path, secure }: CookieScope): string {
    const ids = Buffer.from(round.join('').replaceAll('-', ''), 'hex').toString('base64url');
    const value = Buffer.from(JSON.stringify([name, ids, holder])).toString('base64url');
    const signed = `${value}.${this.#sign('memory', linkId, value)}`;
    const flags = `Path=${path}; Max-Age=${MAX_AGE_SECONDS}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`;
    return `${NAME}=${signed}; ${flags}`;
  }

  /** @param header value of `Cookie` @returns null when it holds none of ours for this link */
  recall(header: string | undefined, linkId: string): ReviewMemory | null {
    const cookie = header
      ?.split(';')
      .map((pair) => pair.trim())
      .find((pair) => pair.startsWith(`${NAME}=`));
    const [value = '', signature = ''] = cookie?.slice(NAME.length + 1).split('.') ?? [];
    if (!same(signature, this.#sign('memory', linkId, value))) return null;
    const [name, ids, holder = ''] = JSON.parse(Buffer.from(value, 'base64url').toString('utf8')) as Remembered;
    return { name, holder, round: idsIn(Buffer.from(ids, 'base64url').toString('hex')) };
  }

  /** Goes into a form that relies on the remembered name: no other site can know it. */
  formValue(linkId: string, completionId: string, { name, holder }: RememberedReviewer): string {
    return this.#sign('form', linkId, `${completionId}\n${holder}\n${name}`);
  }

  isFormValue(given: string, linkId: string, completionId: string, reviewer: RememberedReviewer): boolean {
    return same(given, this.formValue(linkId, completionId, reviewer));
  }

  /** For a browser that is new. */
  newHolder(): string {
    return randomBytes(16).toString('base64url');
  }

  /** For whoever sends no cookie: it is the same for all in one network, and for nobody else. */
  holderOfSite(linkId: string, site: string): string {
    return this.#sign('holder', linkId, site);
  }

  /** A network, in a form that tells no one which, nor whether it is the same on two links. */
  siteMark(linkId: string, site: string): string {
    return this.#sign('site', linkId, site);
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
