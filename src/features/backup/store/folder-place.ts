import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { DomainError } from '../../../engine/errors.js';
import { lockFile } from '../../../engine/metadata/file-lock.js';
import { copyHashed, type Content } from './hashed-copy.js';
import { syncFolder } from '../../../engine/files/sync-folder.js';
import type { BackupPlace, PlaceLock } from './place.js';

const LOCK = 'lock';
const INCOMING = 'incoming';

/** A folder of this machine. Files are written beside, synced, and then renamed to their place. */
export class FolderPlace implements BackupPlace {
  readonly address: string;

  constructor(path: string) {
    this.address = path;
  }

  where(name: string): string {
    return join(this.address, name);
  }

  async isEmpty(but: string): Promise<boolean> {
    const names = (await readdir(this.address).catch(absent)) ?? [];
    return names.every((name) => name.startsWith(but));
  }

  async list(folder: string): Promise<string[]> {
    const root = this.where(folder);
    const entries = (await readdir(root, { recursive: true, withFileTypes: true }).catch(absent)) ?? [];
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .sort();
  }

  async size(name: string): Promise<number | null> {
    return (await stat(this.where(name)).catch(absent))?.size ?? null;
  }

  async read(name: string): Promise<Readable | null> {
    const file = await open(this.where(name), 'r').catch(absent);
    return file === null ? null : file.createReadStream();
  }

  async write(name: string, text: string): Promise<void> {
    const path = this.where(name);
    const draft = `${path}.draft`;
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, path);
    await syncFolder(dirname(path));
  }

  async put(source: string, nameOf: (content: Content) => string): Promise<Content & { readonly isNew: boolean }> {
    const draft = join(this.where(INCOMING), randomUUID());
    // Opened first: a stream that finds no file fails outside of this call when no one reads it yet.
    const file = await open(source, 'r');
    try {
      const content = await copyHashed(file.createReadStream(), draft);
      const name = nameOf(content);
      if ((await this.size(name)) === content.bytes) {
        await rm(draft);
        return { ...content, isNew: false };
      }
      await mkdir(dirname(this.where(name)), { recursive: true, mode: 0o700 });
      await rename(draft, this.where(name));
      return { ...content, isNew: true };
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async remove(name: string): Promise<void> {
    await rm(this.where(name), { force: true });
  }

  async lock(): Promise<PlaceLock> {
    const lock = lockFile(this.where(LOCK));
    if (lock === null)
      throw new DomainError('conflict', `Another backup is being written to ${this.address}: wait until it finishes`);
    // The operating system holds it.
    return { requireHeld: async () => undefined, release: async () => lock.release() };
  }

  async clear(): Promise<void> {
    await rm(this.where(INCOMING), { recursive: true, force: true });
    await mkdir(this.where(INCOMING), { mode: 0o700 });
  }

  async settle(folder: string): Promise<void> {
    const root = this.where(folder);
    for (const entry of (await readdir(root, { withFileTypes: true }).catch(absent)) ?? [])
      if (entry.isDirectory()) await syncFolder(join(root, entry.name));
    await syncFolder(root);
    await syncFolder(this.address);
  }

  close(): void {
    // Nothing is open.
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
