import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  NoSuchUpload,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3';
import { DomainError } from '../../../engine/errors.js';
import type { Content } from './hashed-copy.js';

/** A larger file is sent in parts of this size, of which one is in memory. */
export const PART_BYTES = 8 * 1024 * 1024;
const MAX_PARTS = 10_000;

interface StoredObject {
  readonly Bucket: string;
  readonly Key: string;
}

/**
 * Uploads a file part by part. Interrupted, it leaves an upload without an object.
 * @param content what the file is known to hold
 * @throws DomainError `unavailable` when it holds something else by now
 */
export async function uploadInParts(
  client: S3Client,
  object: StoredObject,
  file: FileHandle,
  { sha256, bytes }: Content,
): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(object));
  try {
    const hash = createHash('sha256');
    const parts: CompletedPart[] = [];
    const buffer = Buffer.alloc(Math.max(PART_BYTES, Math.ceil(bytes / MAX_PARTS)));
    for (let offset = 0; offset < bytes;) {
      const part = await fill(file, buffer, offset);
      if (part.length === 0) break;
      hash.update(part);
      const PartNumber = parts.length + 1;
      const { ETag } = await client.send(new UploadPartCommand({ ...object, UploadId, PartNumber, Body: part }));
      parts.push({ ETag, PartNumber });
      offset += part.length;
    }
    if (hash.digest('hex') !== sha256)
      throw new DomainError('unavailable', `Two reads of ${object.Key} differ: check the disk of DATA_DIR`);
    const MultipartUpload = { Parts: parts };
    await client
      .send(new CompleteMultipartUploadCommand({ ...object, UploadId, MultipartUpload }))
      .catch(async (error: unknown) => {
        // An attempt whose answer was lost has ended it.
        const isDone = error instanceof NoSuchUpload && (await sizeOf(client, object)) === bytes;
        if (!isDone) throw error;
      });
  } catch (error) {
    // Where that fails too, the next backup does it.
    await client.send(new AbortMultipartUploadCommand({ ...object, UploadId })).catch(() => undefined);
    throw error;
  }
}

async function sizeOf(client: S3Client, object: StoredObject): Promise<number | undefined> {
  return (await client.send(new HeadObjectCommand(object))).ContentLength;
}

/** @returns as many bytes as there are, at most a whole buffer */
async function fill(file: FileHandle, buffer: Buffer, offset: number): Promise<Buffer> {
  let length = 0;
  while (length < buffer.length) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, offset + length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return buffer.subarray(0, length);
}
