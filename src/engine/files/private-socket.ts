import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A Unix socket to listen on, a file that no other user of this machine can take, as one could a port. */
export interface PrivateSocket {
  readonly path: string;
  /** Removes the socket, and the directory that was made for it. */
  remove(): Promise<void>;
}

/** The longest path of a socket on macOS, where a longer one is cut off without a word; Linux refuses 108 and more. */
const MAX_PATH_BYTES = 103;

/** A socket in the data directory; where the path of that is too long for one, in a private directory for temporary files. */
export async function privateSocket(dataDirectory: string, name: string): Promise<PrivateSocket> {
  const path = join(dataDirectory, name);
  if (Buffer.byteLength(path) <= MAX_PATH_BYTES) return { path, remove: () => rm(path, { force: true }) };
  // `mkdtemp` lets no one else in.
  const short = join(await mkdtemp(join(tmpdir(), 'spanhouse-')), name);
  if (Buffer.byteLength(short) > MAX_PATH_BYTES)
    throw new Error(`no path for the socket ${name} is short enough: neither ${path} nor ${short}`);
  return { path: short, remove: () => rm(dirname(short), { recursive: true, force: true }) };
}
