import { randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { HeldImages, AttachmentStore, StoredContent } from '../attachment-store.js';
import { guardedStore, locationOf } from './failure.js';
import { syncFolder } from '../../../engine/files/sync-folder.js';

const TEMPORARY = 'incoming';
/** Where removed images are kept while they are held. */
const REMOVED = 'removed';
/** Folders beside those of projects. */
export const PASSING: readonly string[] = [TEMPORARY, REMOVED];

/**
 * Images as files `<project>/<first two digits>/<sha256>`. An image is written beside, synced, and then renamed to its
 * place, so that a file in its place is always complete.
 */
export class FileAttachmentStore implements AttachmentStore {
  readonly #root: string;
  /** Folders whose entry in their parent is on disk. */
  readonly #synced = new Set<string>();
  #held = false;

  private constructor(root: string) {
    this.#root = root;
  }

  /** Opens the folder, made when missing, and removes what an earlier process left half written there. */
  static async open(root: string): Promise<FileAttachmentStore> {
    for (const folder of PASSING) await rm(join(root, folder), { recursive: true, force: true });
    await mkdir(join(root, TEMPORARY), { recursive: true, mode: 0o700 });
    await syncFolder(dirname(root));
    return new FileAttachmentStore(root);
  }

  /** The folder as it is: nothing in it is removed, and only `get` is meant to be used. */
  static asItIs(root: string): FileAttachmentStore {
    return new FileAttachmentStore(root);
  }

  async put(projectId: string, sha256: string, bytes: Buffer): Promise<void> {
    const path = this.#path(projectId, sha256);
    await guardedStore(async () => {
      await this.#makeFolder(dirname(path));
      const temporary = join(this.#root, TEMPORARY, randomUUID());
      try {
        await write(temporary, bytes);
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true });
        throw error;
      }
      await syncFolder(dirname(path));
    });
  }

  async get(projectId: string, sha256: string): Promise<StoredContent | null> {
    const path = this.#path(projectId, sha256);
    return guardedStore(async () => {
      const file = await open(path, 'r').catch(absent);
      if (file === null) return null;
      const { size } = await file.stat();
      return { stream: file.createReadStream(), bytes: size };
    });
  }

  async remove(projectId: string, sha256: string): Promise<void> {
    const path = this.#path(projectId, sha256);
    await guardedStore(async () => {
      await (this.#held ? this.#setAside(path, sha256, projectId) : rm(path, { force: true }));
      // A deleted image has to stay deleted, after a loss of power as well.
      await syncFolder(dirname(path)).catch(absent);
    });
  }

  /** Keeps the bytes of what is removed from now on in the folder `removed`, for a backup to copy. */
  async hold(): Promise<HeldImages> {
    const removed = join(this.#root, REMOVED);
    await mkdir(removed, { recursive: true, mode: 0o700 });
    this.#held = true;
    return { folder: this.#root, removed };
  }

  /** Lets go of what was removed meanwhile. */
  async release(): Promise<void> {
    this.#held = false;
    await rm(join(this.#root, REMOVED), { recursive: true, force: true });
  }

  async #setAside(path: string, sha256: string, projectId: string): Promise<void> {
    const [project, fan, name] = locationOf(projectId, sha256);
    const folder = join(this.#root, REMOVED, project, fan);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await rename(path, join(folder, name)).catch(absent);
  }

  #path(projectId: string, sha256: string): string {
    return join(this.#root, ...locationOf(projectId, sha256));
  }

  async #makeFolder(folder: string): Promise<void> {
    if (this.#synced.has(folder)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const parent = dirname(folder);
    await syncFolder(parent);
    await syncFolder(dirname(parent));
    this.#synced.add(folder);
  }
}

async function write(path: string, bytes: Buffer): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
