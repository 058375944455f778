import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';

/** What is in a file, whatever its name. */
export interface Content {
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  readonly bytes: number;
}

/** Copies to a new file, which is on disk once this resolves. @returns what was copied */
export async function copyHashed(source: Readable, to: string): Promise<Content> {
  const file = await open(to, 'wx', 0o600).catch((error: unknown) => {
    source.destroy();
    throw error;
  });
  try {
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const piece of source as AsyncIterable<Buffer>) {
      hash.update(piece);
      bytes += piece.length;
      await file.writeFile(piece);
    }
    await file.sync();
    return { sha256: hash.digest('hex'), bytes };
  } finally {
    source.destroy();
    await file.close();
  }
}

/** Reads to the end. */
export async function hashOf(source: Readable): Promise<Content> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const piece of source as AsyncIterable<Buffer>) {
    hash.update(piece);
    bytes += piece.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}
