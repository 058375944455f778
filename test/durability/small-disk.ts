import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/** A file system of its own, so that it can be filled. */
export interface SmallDisk {
  /** Leaves not a byte free. */
  fill(): void;
  /** Takes back what filled it. */
  free(): void;
  unmount(): void;
}

/** Mounts one at a path, which is made; null where this user may not mount. */
export function mountSmallDisk(path: string, megabytes: number): SmallDisk | null {
  mkdirSync(path, { recursive: true });
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', path], { stdio: 'ignore' });
  } catch {
    console.log('      skipped: a disk to fill can only be mounted by root, on Linux');
    return null;
  }
  const filler = join(path, 'filler');
  return {
    fill() {
      const file = openSync(filler, 'a');
      for (let piece = 1024 * 1024; piece >= 1; piece = Math.floor(piece / 32))
        writeUntilFull(file, Buffer.alloc(piece));
      closeSync(file);
    },
    free: () => rmSync(filler, { force: true }),
    unmount: () => void execFileSync('umount', ['--lazy', path]),
  };
}

function writeUntilFull(file: number, piece: Buffer): void {
  try {
    for (;;) writeSync(file, piece);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
