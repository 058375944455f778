import { createHash, randomBytes } from 'node:crypto';
import type { Micros } from '../time/timestamp.js';

export type LinkType = 'prompt_completion';

/** A link that lets people without an account review completions of a prompt. */
export interface FeedbackLink {
  /** Lower-case UUID. */
  readonly id: string;
  readonly project_id: string;
  readonly prompt_id: string;
  readonly prompt_slug: string;
  readonly link_type: LinkType;
  readonly created_at: Micros;
  readonly expires_at: Micros;
  readonly revoked_at: Micros | null;
}

/** A new link: the only time its URL is there. */
export interface CreatedLink extends FeedbackLink {
  readonly url: string;
  /** Whether the URL names this machine as such, so that it opens nowhere else. */
  readonly opens_here_only: boolean;
}

export interface LinkDraft extends Omit<FeedbackLink, 'prompt_slug' | 'revoked_at'> {
  readonly token_hash: Buffer;
  readonly created_by: string;
}

const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Token of a link: 256 random bits, 43 characters that are safe in a path. */
export function createToken(): string {
  return randomBytes(32).toString('base64url');
}

/** Hash of a token, which alone is stored; null for a text that can be no token. */
export function hashOfToken(token: string): Buffer | null {
  return TOKEN.test(token) ? createHash('sha256').update(token).digest() : null;
}
