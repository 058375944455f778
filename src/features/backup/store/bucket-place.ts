import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readFile, stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  NoSuchKey,
  paginateListObjectsV2,
  PutObjectCommand,
  type GetObjectCommandOutput,
  type ListMultipartUploadsCommandInput,
  type ListMultipartUploadsCommandOutput,
  type MultipartUpload,
  type S3Client,
} from '@aws-sdk/client-s3';
import { createS3Client, type S3Access } from '../../../engine/files/s3-client.js';
import { bucketFailure, statusOf } from './bucket-failure.js';
import { BucketLock, type LockBucket, type LockObject } from './bucket-lock.js';
import { wholeBody } from './bucket-body.js';
import { PART_BYTES, uploadInParts } from './bucket-upload.js';
import { hashOf, type Content } from './hashed-copy.js';
import type { BackupPlace, PlaceAddress, PlaceLock } from './place.js';

/** Another name than that of the lock of a folder, which is no text: either may be copied to the other. */
const LOCK = 'writer.json';
/** Time for a part over the slowest line; a line on which nothing moves is given up earlier. */
const REQUEST_MS = 600_000;
const IDLE_MS = 20_000;
const ATTEMPTS = 4;

/**
 * A bucket, or what is below a prefix in it. An object is there as a whole once its upload is answered, and not before;
 * what it is made of is compared with its signed hash by the service.
 */
export class BucketPlace implements BackupPlace, LockBucket {
  readonly address: string;
  readonly #client: S3Client;
  readonly #bucket: string;
  /** Empty, or ends in a slash. */
  readonly #prefix: string;
  /** Sizes of the files below folders that were asked for: only the holder of the lock writes. */
  readonly #sizes = new Map<string, Promise<Map<string, number>>>();
  /** How much the clock of the bucket is ahead. */
  #aheadMs = 0;

  constructor({ bucket, prefix }: Extract<PlaceAddress, { kind: 'bucket' }>, access: S3Access) {
    this.address = `s3://${bucket}${prefix === '' ? '' : `/${prefix}`}`;
    this.#bucket = bucket;
    this.#prefix = prefix === '' ? '' : `${prefix}/`;
    this.#client = createS3Client(access, { requestMs: REQUEST_MS, idleMs: IDLE_MS, attempts: ATTEMPTS });
    this.#client.middlewareStack.add(
      (next) => async (args) => {
        const result = await next(args);
        const { date } = (result.response as { headers?: { date?: string } }).headers ?? {};
        if (date !== undefined) this.#aheadMs = Date.parse(date) - Date.now();
        return result;
      },
      { step: 'deserialize', name: 'clockOfTheBucket' },
    );
  }

  where(name: string): string {
    return `${this.address}/${name}`;
  }

  isEmpty(but: string): Promise<boolean> {
    return this.#asked(async () => {
      for await (const page of this.#pages('', 2))
        for (const { Key = '' } of page.Contents ?? [])
          if (!Key.slice(this.#prefix.length).startsWith(but)) return false;
      return true;
    });
  }

  async list(folder: string): Promise<string[]> {
    const sizes = await this.#list(folder);
    return [...sizes.keys()].map((name) => name.slice(folder.length + 1)).sort();
  }

  async size(name: string): Promise<number | null> {
    return (await this.#sizesBeside(name)).get(name) ?? null;
  }

  async read(name: string): Promise<Readable | null> {
    const get = (offset: number, etag: string | undefined) =>
      this.#asked(() =>
        this.#client.send(
          new GetObjectCommand({
            ...this.#key(name),
            ...(offset === 0 ? {} : { Range: `bytes=${offset}-` }),
            ...(etag === undefined ? {} : { IfMatch: etag }),
          }),
        ),
      );
    const first = await this.#get(name);
    const failure = (error: unknown) => this.#failure(error);
    return first === null ? null : Readable.from(wholeBody(first, { get, failure }), { objectMode: false });
  }

  async write(name: string, text: string): Promise<void> {
    const Body = Buffer.from(text);
    await this.#asked(() => this.#client.send(new PutObjectCommand({ ...this.#key(name), Body })));
  }

  async put(source: string, nameOf: (content: Content) => string): Promise<Content & { readonly isNew: boolean }> {
    const { whole: bytes, ...content } = await readSmall(source);
    const name = nameOf(content);
    const sizes = await this.#sizesBeside(name);
    if (sizes.get(name) === content.bytes) return { ...content, isNew: false };
    await this.#upload(source, name, { ...content, whole: bytes });
    sizes.set(name, content.bytes);
    return { ...content, isNew: true };
  }

  /** Takes in a local file under a name, whatever is there. */
  async replace(source: string, name: string): Promise<void> {
    await this.#upload(source, name, await readSmall(source));
  }

  async remove(name: string): Promise<void> {
    await this.#asked(() => this.#client.send(new DeleteObjectCommand(this.#key(name))));
    (await this.#sizes.get(folderOf(name)))?.delete(name);
  }

  lock(): Promise<PlaceLock> {
    return BucketLock.take(this);
  }

  async readLock(): Promise<LockObject | null> {
    const found = await this.#get(LOCK);
    if (found === null) return null;
    const { Body, ETag = '', LastModified } = found;
    const text = await this.#asked(async () => (await Body?.transformToString()) ?? '');
    return { text, etag: ETag, ageMs: Date.now() + this.#aheadMs - (LastModified?.getTime() ?? 0) };
  }

  writeLock(text: string, over: string | null): Promise<string | null> {
    const put = async (condition: { readonly IfNoneMatch: '*' } | { readonly IfMatch: string } | object) => {
      const command = new PutObjectCommand({ ...this.#key(LOCK), Body: Buffer.from(text), ...condition });
      return (await this.#client.send(command)).ETag ?? '';
    };
    return this.#asked(async () => {
      try {
        return await put(over === null ? { IfNoneMatch: '*' } : over === '' ? {} : { IfMatch: over });
      } catch (error) {
        const status = statusOf(error);
        // 409: another is being written; 404: what was to be replaced is gone.
        if (status === 412 || status === 409 || status === 404) return null;
        // A service without conditions that says so.
        if (status === 501) return put({});
        throw error;
      }
    });
  }

  removeLock(): Promise<void> {
    return this.remove(LOCK);
  }

  /** Parts of uploads that were interrupted are on the bill, and seen nowhere. */
  clear(folder: string): Promise<void> {
    return this.#asked(async () => {
      for await (const { Key, UploadId } of this.#uploads(folder))
        await this.#client
          .send(new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId }))
          .catch((error: unknown) => {
            // It is gone already.
            if (statusOf(error) !== 404) throw error;
          });
    });
  }

  async settle(): Promise<void> {
    // What was answered is there for good.
  }

  close(): void {
    this.#client.destroy();
  }

  async *#uploads(folder: string): AsyncGenerator<MultipartUpload> {
    const input = { Bucket: this.#bucket, Prefix: `${this.#prefix}${folder}/` };
    let marker: Pick<ListMultipartUploadsCommandInput, 'KeyMarker' | 'UploadIdMarker'> | null = {};
    while (marker !== null) {
      const page: Partial<ListMultipartUploadsCommandOutput> = await this.#client
        .send(new ListMultipartUploadsCommand({ ...input, ...marker }))
        .catch((error: unknown) => {
          // A service that cannot tell removes them itself.
          if (statusOf(error) !== 501) throw error;
          return {};
        });
      yield* page.Uploads ?? [];
      const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      marker = IsTruncated === true ? { KeyMarker, UploadIdMarker } : null;
    }
  }

  async #get(name: string): Promise<GetObjectCommandOutput | null> {
    return this.#asked(async () => {
      try {
        return await this.#client.send(new GetObjectCommand(this.#key(name)));
      } catch (error) {
        if (error instanceof NoSuchKey) return null;
        throw error;
      }
    });
  }

  async #upload(source: string, name: string, { whole, ...content }: Read): Promise<void> {
    await (whole === null ? this.#putLarge(source, name, content) : this.#putSmall(name, whole, content.sha256));
  }

  async #putSmall(name: string, bytes: Buffer, sha256: string): Promise<void> {
    // Services that know the checksum keep it with the object.
    const ChecksumSHA256 = Buffer.from(sha256, 'hex').toString('base64');
    const command = new PutObjectCommand({ ...this.#key(name), Body: bytes, ChecksumSHA256 });
    await this.#asked(() => this.#client.send(command));
  }

  async #putLarge(source: string, name: string, content: Content): Promise<void> {
    const file = await open(source, 'r');
    try {
      await this.#asked(() => uploadInParts(this.#client, this.#key(name), file, content));
    } finally {
      await file.close();
    }
  }

  #sizesBeside(name: string): Promise<Map<string, number>> {
    const folder = folderOf(name);
    let sizes = this.#sizes.get(folder);
    if (sizes === undefined) {
      sizes = this.#list(folder);
      this.#sizes.set(folder, sizes);
      // Asked again where it failed.
      sizes.catch(() => this.#sizes.delete(folder));
    }
    return sizes;
  }

  #list(folder: string): Promise<Map<string, number>> {
    return this.#asked(async () => {
      const sizes = new Map<string, number>();
      for await (const page of this.#pages(`${folder}/`))
        for (const { Key, Size } of page.Contents ?? [])
          if (Key !== undefined) sizes.set(Key.slice(this.#prefix.length), Size ?? 0);
      return sizes;
    });
  }

  #pages(prefix: string, MaxKeys?: number) {
    const input = { Bucket: this.#bucket, Prefix: this.#prefix + prefix, MaxKeys };
    return paginateListObjectsV2({ client: this.#client }, input);
  }

  #key(name: string): { Bucket: string; Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + name };
  }

  async #asked<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#failure(error);
    }
  }

  #failure(error: unknown): Error {
    return bucketFailure(error, this.address, this.#bucket);
  }
}

/** What a local file holds, with its bytes where it is small. */
interface Read extends Content {
  readonly whole: Buffer | null;
}

async function readSmall(source: string): Promise<Read> {
  const whole = (await stat(source)).size <= PART_BYTES ? await readFile(source) : null;
  return { ...(whole === null ? await hashOf(createReadStream(source)) : contentOf(whole)), whole };
}

function contentOf(bytes: Buffer): Content {
  return { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length };
}

function folderOf(name: string): string {
  return name.slice(0, Math.max(0, name.indexOf('/')));
}
