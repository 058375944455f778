import { createReadStream } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import * as zlib from 'node:zlib';
import { ImportError } from './import-error.js';

/** A longer line is skipped, and only its length is known. */
export const MAX_LINE_BYTES = 32 * 1024 * 1024;

export interface Line {
  /** Null: it is too long. */
  readonly bytes: Buffer | null;
  /** Where it begins, and where the next one does, in bytes of the unpacked file. */
  readonly from: number;
  readonly to: number;
  /** From 1, counted from where reading began. */
  readonly number: number;
  /** Whether its end is there: of the last line, it may be on its way. */
  readonly ended: boolean;
}

const NEW_LINE = 10;

/** The lines of a file from an offset on, of which none is held that is too long. */
export async function* linesOf(file: string, offset = 0): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let held = 0;
  let from = offset;
  let at = offset;
  let number = 0;
  const take = (piece: Buffer) => {
    held += piece.length;
    if (held > MAX_LINE_BYTES) pieces = [];
    else pieces.push(piece);
  };
  const line = (to: number, ended = true): Line => {
    number += 1;
    const bytes = held > MAX_LINE_BYTES ? null : pieces.length === 1 ? (pieces[0] ?? null) : Buffer.concat(pieces);
    const found = { bytes, from, to, number, ended };
    [pieces, held, from] = [[], 0, to];
    return found;
  };
  for await (const chunk of chunksOf(file, offset)) {
    let start = 0;
    for (let end = chunk.indexOf(NEW_LINE); end !== -1; end = chunk.indexOf(NEW_LINE, start)) {
      take(chunk.subarray(start, end));
      yield line(at + end + 1);
      start = end + 1;
    }
    take(chunk.subarray(start));
    at += chunk.length;
  }
  if (held > 0) yield line(at, false);
}

/**
 * A file from an offset on, unpacked where it is packed as a whole by gzip or zstd.
 * @throws ImportError when it cannot be read
 */
export async function* chunksOf(file: string, offset = 0): AsyncGenerator<Buffer> {
  const unpacker = unpackerOf(await firstBytes(file, 4));
  const source = createReadStream(file, unpacker === null ? { start: offset } : {});
  const stream = unpacker === null ? source : source.pipe(unpacker);
  source.on('error', (error) => stream.destroy(error));
  let skip = unpacker === null ? 0 : offset;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (skip >= chunk.length) skip -= chunk.length;
      else {
        yield skip === 0 ? chunk : chunk.subarray(skip);
        skip = 0;
      }
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new ImportError(
      /^(Z_|ZSTD_|ERR_)/.test(code) ? `${file} cannot be unpacked: ${message}` : `${file} cannot be read: ${message}`,
    );
  } finally {
    source.destroy();
  }
}

const GZIP = 0x1f8b;
export const ZSTD = 0x28b52ffd;

function unpackerOf(head: Buffer): (NodeJS.ReadWriteStream & { destroy(error: Error): unknown }) | null {
  if (head.length >= 2 && head.readUInt16BE() === GZIP) return zlib.createGunzip();
  if (head.length < 4 || head.readUInt32BE() !== ZSTD) return null;
  requireZstd();
  return zlib.createZstdDecompress();
}

/** @throws ImportError where Node.js has no zstd */
export function requireZstd(): void {
  if (!('createZstdDecompress' in zlib)) throw new ImportError('Files packed by zstd need Node.js 22.15 or newer');
}

/** @throws ImportError when the file cannot be read */
export async function firstBytes(file: string, length: number): Promise<Buffer> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } catch (error) {
    throw new ImportError(`${file} cannot be read: ${(error as Error).message}`);
  } finally {
    await handle?.close();
  }
}
