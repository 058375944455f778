import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Where the engine listens: a file that no other user of this machine can put in its place, as one could take a port. */
export interface EngineSocket {
  readonly path: string;
  /** Removes it, and what was made for it. */
  remove(): Promise<void>;
}

const NAME = 'engine.sock';
/** In bytes, of macOS; a longer path is cut off without a word there, and refused by Linux from 108 on. */
const MAX_PATH_BYTES = 103;

/** A socket in the data directory; where the path of that is too long for one, in a private directory for temporary files. */
export async function engineSocket(dataDirectory: string): Promise<EngineSocket> {
  const path = join(dataDirectory, NAME);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, remove: () => rm(path, { force: true }) };
  // `mkdtemp` lets nobody else in.
  const short = join(await mkdtemp(join(tmpdir(), 'spanhouse-')), NAME);
  if (Buffer.byteLength(short) > MAX_PATH_BYTES)
    throw new Error(`no path for the engine's socket is short enough: neither ${path} nor ${short}`);
  return { path: short, remove: () => rm(dirname(short), { recursive: true, force: true }) };
}
