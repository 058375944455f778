import * as zlib from 'node:zlib';
import { DomainError } from '../../engine/errors.js';
import type { BodyBytes } from './body-memory.js';
import { BodyPieces } from './body-pieces.js';

/** Largest window of a zstd frame: 8 MB (2^23), which every level of zstd but the ultra ones keeps to. */
const ZSTD_WINDOW_LOG = 23;

const unfolders = {
  gzip: zlib.createGunzip,
  zlib: zlib.createInflate,
  raw: zlib.createInflateRaw,
  zstd: () => zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
};

/** Encodings that {@link unfold} knows; Node.js before 22.15 has no zstd. */
export const UNFOLDED = ['gzip', 'x-gzip', 'deflate', ...('createZstdDecompress' in zlib ? ['zstd'] : [])];

/**
 * The bytes of a body that was sent compressed, which is released. What it unfolds to is counted piece by piece: a bomb
 * goes no further than the limit or its sender's share.
 * @param encoding one of {@link UNFOLDED}
 * @throws DomainError `too_large`, `overloaded`, `malformed`
 */
export function unfold(sent: Buffer, encoding: string, maxBytes: number, held: BodyBytes): Promise<Buffer> {
  const unfolder = unfolders[formatOf(sent, encoding)]();
  return new Promise((resolve, reject) => {
    const pieces = new BodyPieces(maxBytes, held);
    unfolder.on('data', (piece: Buffer) => {
      try {
        pieces.add(piece);
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
      resolve(pieces.joined());
    });
    unfolder.end(sent);
  });
}

function formatOf(sent: Buffer, encoding: string): keyof typeof unfolders {
  if (encoding === 'zstd') return 'zstd';
  if (encoding !== 'deflate') return 'gzip';
  return hasZlibHeader(sent) ? 'zlib' : 'raw';
}

/** Clients send both zlib (as the standard says) and bare deflate under this name. */
function hasZlibHeader(bytes: Buffer): boolean {
  return bytes.length >= 2 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}
