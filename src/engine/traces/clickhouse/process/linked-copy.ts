import { copyFile, link, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { join, sep } from 'node:path';

/** What the engine makes again, or does not own. */
const LEFT_OUT = new Set(['shadow', 'reserve', 'tmp', 'incoming']);
/** `store/<begin of uuid>/<uuid>/<part>/<file>`: files of parts never change once they are there. */
const PART_DEPTH = 4;

/**
 * A copy of the folder of a stopped engine, for an engine of its own: files of parts are hard links, all else is copied, so
 * that whatever the second engine merges, removes or finishes, the first one's folder stays as it is.
 */
export async function linkedCopy(from: string, to: string): Promise<void> {
  await copyFolder(from, to, '');
}

async function copyFolder(from: string, to: string, inner: string): Promise<void> {
  await mkdir(join(to, inner), { recursive: true, mode: 0o700 });
  for (const entry of await readdir(join(from, inner), { withFileTypes: true })) {
    if (inner === '' && LEFT_OUT.has(entry.name)) continue;
    const path = join(inner, entry.name);
    const [source, target] = [join(from, path), join(to, path)];
    if (entry.isDirectory()) await copyFolder(from, to, path);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (entry.isFile()) await (isOfPart(path) ? link(source, target) : copyFile(source, target));
  }
}

function isOfPart(path: string): boolean {
  const folders = path.split(sep);
  return folders[0] === 'store' && folders.length > PART_DEPTH;
}
