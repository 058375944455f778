import { copyFile, link, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Copies the data of a server that does not run. Parts never change once they are written, so their files are linked; all
 * else is copied. The engine's own symbolic links are left out: they are for people, and it makes them anew.
 */
export async function copyData(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyData(source, target);
    else if (entry.isFile()) await (/\.(bin|c?mrk\d?|c?idx\d?)$/.test(entry.name) ? link : copyFile)(source, target);
  }
}

/** What the files below a folder take on disk; files that go meanwhile are none. */
export async function bytesBelow(folder: string): Promise<number> {
  const known = new Set<number>();
  const below = async (path: string): Promise<number> => {
    let bytes = 0;
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const inner = join(path, entry.name);
      if (entry.isDirectory()) bytes += await below(inner);
      else if (entry.isFile()) bytes += await sizeOf(inner, known);
    }
    return bytes;
  };
  return below(folder);
}

async function sizeOf(file: string, known: Set<number>): Promise<number> {
  try {
    const { ino, blocks } = await lstat(file);
    if (known.has(ino)) return 0;
    known.add(ino);
    return blocks * 512;
  } catch {
    return 0;
  }
}
