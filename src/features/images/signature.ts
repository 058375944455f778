import { createHmac, timingSafeEqual } from 'node:crypto';

/** How long a URL that was handed out works. */
export const URL_LIFETIME_SECONDS = 3600;

/** Access that a presigned URL gives: to one image of one project, until a moment. */
export interface Grant {
  readonly projectId: string;
  readonly sha256: string;
  /** Unix seconds. */
  readonly expires: number;
}

/** What an upload URL allows: to send one image of one project, until a moment. */
export interface UploadGrant extends Grant {
  readonly bytes: number;
  readonly mediaType: string;
}

/** Signs grants with HMAC-SHA-256. */
export class GrantSigner {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  /** Signature in base64url, 43 characters. */
  sign({ projectId, sha256, expires }: Grant): string {
    return this.#signatureOf(['attachment', projectId, sha256, expires]);
  }

  /** Whether the signature is the grant's, compared in constant time. */
  verify(grant: Grant, signature: string): boolean {
    return isSame(signature, this.sign(grant));
  }

  /** Text that is a part of an upload URL. */
  upload({ projectId, sha256, expires, bytes, mediaType }: UploadGrant): string {
    const payload = Buffer.from(JSON.stringify([projectId, sha256, expires, bytes, mediaType])).toString('base64url');
    return `${payload}.${this.#signatureOf(['upload', payload])}`;
  }

  /** What such a text allows; null: it is none that was signed. */
  uploadOf(text: string): UploadGrant | null {
    const [payload = '', signature = ''] = text.split('.');
    if (!isSame(signature, this.#signatureOf(['upload', payload]))) return null;
    const said = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string, number, number, string];
    const [projectId, sha256, expires, bytes, mediaType] = said;
    return { projectId, sha256, expires, bytes, mediaType };
  }

  #signatureOf(said: readonly unknown[]): string {
    return createHmac('sha256', this.#secret).update(said.join('\n')).digest('base64url');
  }
}

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
