import { createHash, randomBytes } from 'node:crypto';

/** Form of every token. */
export const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** A secret to be handed out: 256 random bits, 43 characters that are safe in URLs and cookies; and its hash. */
export function createToken(): { readonly token: string; readonly hash: Buffer } {
  const token = randomBytes(32).toString('base64url');
  return { token, hash: sha256(token) };
}

/** Hash of a token, which alone is stored; null for a text that can be no token. */
export function hashOfToken(token: string): Buffer | null {
  return TOKEN.test(token) ? sha256(token) : null;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
