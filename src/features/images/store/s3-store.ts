import { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import type { AttachmentStore, StoredContent } from '../attachment-store.js';
import { createS3Client, type S3Access } from '../../../engine/files/s3-client.js';
import { guardedStore, locationOf } from './failure.js';

export interface S3Options extends S3Access {
  readonly bucket: string;
}

const PREFIX = 'attachments';
const REQUEST_MS = 30_000;

/**
 * Images as objects `attachments/<project>/<first two digits>/<sha256>` of a bucket. An object is there as a whole once
 * its upload is answered, and not before.
 */
export class S3AttachmentStore implements AttachmentStore {
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor({ bucket, ...access }: S3Options) {
    this.#bucket = bucket;
    this.#client = createS3Client(access, { requestMs: REQUEST_MS });
  }

  async put(projectId: string, sha256: string, bytes: Buffer, mediaType: string): Promise<void> {
    const command = new PutObjectCommand({ ...this.#object(projectId, sha256), Body: bytes, ContentType: mediaType });
    await guardedStore(() => this.#client.send(command));
  }

  async get(projectId: string, sha256: string): Promise<StoredContent | null> {
    const command = new GetObjectCommand(this.#object(projectId, sha256));
    return guardedStore(async () => {
      try {
        const { Body, ContentLength } = await this.#client.send(command);
        if (!(Body instanceof Readable)) throw new Error('The bucket responded without a body');
        return { stream: Body, bytes: ContentLength ?? 0 };
      } catch (error) {
        if (error instanceof NoSuchKey) return null;
        throw error;
      }
    });
  }

  async remove(projectId: string, sha256: string): Promise<void> {
    const command = new DeleteObjectCommand(this.#object(projectId, sha256));
    await guardedStore(() => this.#client.send(command));
  }

  /** Ends the connections. */
  close(): void {
    this.#client.destroy();
  }

  #object(projectId: string, sha256: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: [PREFIX, ...locationOf(projectId, sha256)].join('/') };
  }
}
