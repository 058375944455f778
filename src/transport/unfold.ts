import { createGunzip, createInflate, createInflateRaw } from 'node:zlib';
import { DomainError } from '../domain/errors.js';
import type { BodyBytes } from './body-memory.js';

const unfolders = { gzip: createGunzip, zlib: createInflate, raw: createInflateRaw };

/**
 * The bytes of a body that was sent compressed, which is released. What it unfolds to is counted piece by piece: a bomb
 * goes no further than the limit or its sender's share.
 * @param encoding `gzip`, `x-gzip` or `deflate`
 * @throws DomainError `too_large`, `overloaded`, `malformed`
 */
export function unfold(sent: Buffer, encoding: string, maxBytes: number, held: BodyBytes): Promise<Buffer> {
  const unfolder = unfolders[encoding !== 'deflate' ? 'gzip' : hasZlibHeader(sent) ? 'zlib' : 'raw']();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    unfolder.on('data', (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > maxBytes) throw tooLarge(maxBytes);
        held.hold(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        unfolder.destroy();
        reject(error);
      }
    });
    unfolder.on('error', (cause) =>
      reject(new DomainError('malformed', `The body is not valid ${encoding}`, { cause })),
    );
    unfolder.on('end', () => {
      held.release(sent.length);
      resolve(Buffer.concat(chunks, length));
    });
    unfolder.end(sent);
  });
}

/** Clients send both zlib (as the standard says) and bare deflate under this name. */
function hasZlibHeader(bytes: Buffer): boolean {
  return bytes.length >= 2 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}

export function tooLarge(maxBytes: number): DomainError {
  return new DomainError('too_large', `The body must have at most ${maxBytes} bytes, also after decompression`);
}
