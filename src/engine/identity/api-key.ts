import { createHash, randomBytes } from 'node:crypto';

const GENERATED_PREFIX = 'sk_sh_';

/** A new key: `sk_sh_` and 32 random bytes in base64url (43 characters). */
export function generateApiKey(): string {
  return GENERATED_PREFIX + randomBytes(32).toString('base64url');
}

/** SHA-256 of a key, 32 bytes. A slow hash would add nothing: the keys have 256 random bits. */
export function hashApiKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** Start of a key that may be shown. A key that someone chose may be short, so less of it is given away. */
export function visiblePrefix(key: string): string {
  const generated = key.startsWith(GENERATED_PREFIX) && key.length === GENERATED_PREFIX.length + 43;
  return key.slice(0, generated ? 12 : Math.min(12, Math.floor(key.length / 4)));
}

/** Keys given from outside (init variables): printable ASCII without spaces, so that they fit into a header. */
export function isUsableApiKey(key: string): boolean {
  return /^[\x21-\x7e]{8,256}$/.test(key);
}

/** The key of an `Authorization: Bearer <key>` header, or null when it has not that form. */
export function bearerToken(authorization: string | undefined): string | null {
  return /^Bearer +([\x21-\x7e]{1,512}) *$/i.exec(authorization ?? '')?.[1] ?? null;
}

/** What an `Authorization` header states. */
export interface StatedKey {
  readonly key: string;
  /** The name in front of the key, as programs send that know pairs of keys; null: the key came alone. */
  readonly publicKey: string | null;
}

/** Longest credentials of `Basic`, encoded: a key with what is public in front of it. */
const MAX_BASIC = 1024;

/** The key of `Bearer <key>`, or of `Basic <public key>:<key>`; null when the header has neither form. */
export function statedKey(authorization: string): StatedKey | null {
  const key = bearerToken(authorization);
  if (key !== null) return { key, publicKey: null };
  const encoded = /^Basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization.slice(0, MAX_BASIC))?.[1];
  if (encoded === undefined || authorization.length > MAX_BASIC) return null;
  const [, publicKey, secret] = /^([\x21-\x39\x3b-\x7e]*):([\x21-\x7e]{1,512})$/.exec(fromBase64(encoded)) ?? [];
  return publicKey === undefined || secret === undefined ? null : { key: secret, publicKey };
}

function fromBase64(text: string): string {
  return Buffer.from(text, 'base64').toString('latin1');
}

/** The public half of the keys of a project, for programs that want a pair. It opens nothing. */
export function publicKeyOf(projectId: string): string {
  return `pk-sh-${projectId}`;
}
