import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';

const ZSTD_FRAME = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Before a compressed block of ClickHouse stand its method, its size with this header, and the size that it will have. */
const HEADER = 9;
const ZSTD = 0x90;

/** The texts of a form that files below a folder hold, also compressed as ClickHouse does it, each with one of the files. */
export function textsInFiles(folder: string, form: RegExp): Map<string, string> {
  const found = new Map<string, string>();
  for (const path of filesBelow(folder))
    for (const content of contentsOf(path))
      for (const [text] of content.toString('latin1').matchAll(form)) found.set(text, relative(folder, path));
  return found;
}

function filesBelow(folder: string): string[] {
  const entries = ifThere(() => readdirSync(folder, { withFileTypes: true })) ?? [];
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
  });
}

/** What a file holds, as it is and unpacked. */
function contentsOf(path: string): Buffer[] {
  const raw = ifThere(() => readFileSync(path));
  if (raw === undefined) return [];
  const contents = [raw];
  for (let at = raw.indexOf(ZSTD_FRAME); at >= 0; at = raw.indexOf(ZSTD_FRAME, at + 1)) {
    if (at < HEADER || raw[at - HEADER] !== ZSTD) continue;
    const size = raw.readUInt32LE(at - HEADER + 1) - HEADER;
    try {
      contents.push(zstdDecompressSync(raw.subarray(at, at + size)));
    } catch {
      // Bytes that only look like a block.
    }
  }
  return contents;
}

/** ClickHouse removes files whenever it likes. */
function ifThere<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
