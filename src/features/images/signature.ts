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

/** Signs grants with HMAC-SHA-256. */
export class GrantSigner {
  readonly #secret: Buffer;

  constructor(secret: Buffer) {
    this.#secret = secret;
  }

  /** Signature in base64url, 43 characters. */
  sign({ projectId, sha256, expires }: Grant): string {
    return createHmac('sha256', this.#secret)
      .update(`attachment\n${projectId}\n${sha256}\n${expires}`)
      .digest('base64url');
  }

  /** Whether the signature is the grant's, compared in constant time. */
  verify(grant: Grant, signature: string): boolean {
    const given = Buffer.from(signature);
    const expected = Buffer.from(this.sign(grant));
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}
