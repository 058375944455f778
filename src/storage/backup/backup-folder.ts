import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { contentsOf, readManifest, type Manifest } from '../../domain/backup/manifest.js';
import { DomainError } from '../../domain/errors.js';
import { lockFile, type FileLock } from '../sqlite/file-lock.js';
import { copyHashed, syncFolder, type Content } from './hashed-copy.js';

/** Says that a folder is one of backups: nothing is ever removed from another. */
const MARK = 'spanhouse-backups.json';
const LOCK = 'lock';
const OBJECTS = 'objects';
const MANIFESTS = 'backups';
const INCOMING = 'incoming';
const UNFINISHED = 'unfinished.json';
const FOLDER_FORMAT = 1;

/** A backup in the folder, or why it cannot be read. */
export interface ListedBackup {
  readonly id: string;
  readonly manifest: Manifest | null;
  readonly problem: string | null;
}

/**
 * A folder of backups. Contents are kept once, as `objects/<first two digits>/<sha256>`, and each backup is a list of them,
 * `backups/<id>.json`, written last. So a further backup adds only what is new, a list without all of its contents never
 * comes to be, and what a cut-off backup copied is found again by the next.
 */
export class BackupFolder {
  readonly path: string;
  readonly #lock: FileLock | null;

  private constructor(path: string, lock: FileLock | null) {
    this.path = path;
    this.#lock = lock;
  }

  /**
   * Opens a folder to write to it, alone, and makes it when it is missing.
   * @throws DomainError `conflict` when something else is in it, or somebody else writes to it
   */
  static async forWriting(given: string): Promise<BackupFolder> {
    const path = pathOf(given);
    await mkdir(path, { recursive: true, mode: 0o700 });
    if (!(await isMarked(path))) {
      // A full disk leaves the mark empty.
      if ((await readdir(path)).some((name) => name !== MARK))
        throw new DomainError(
          'conflict',
          `${path} holds something else than backups: name an empty folder, or a new one`,
        );
      await writeFile(join(path, MARK), `${JSON.stringify({ format: FOLDER_FORMAT })}\n`, { mode: 0o600 });
    }
    const lock = lockFile(join(path, LOCK));
    if (lock === null)
      throw new DomainError('conflict', `Another backup is being written to ${path}: wait until it has ended`);
    for (const folder of [OBJECTS, MANIFESTS]) await mkdir(join(path, folder), { recursive: true, mode: 0o700 });
    // What a process was writing when it died.
    await rm(join(path, INCOMING), { recursive: true, force: true });
    await mkdir(join(path, INCOMING), { mode: 0o700 });
    return new BackupFolder(path, lock);
  }

  /** Opens a folder to read it. @throws DomainError `not_found` when it is none of backups */
  static async forReading(given: string): Promise<BackupFolder> {
    const path = pathOf(given);
    if (!(await isMarked(path))) throw new DomainError('not_found', `${path} is no folder of backups`);
    return new BackupFolder(path, null);
  }

  close(): void {
    this.#lock?.release();
  }

  /** Backups by their time, the oldest first. */
  async list(): Promise<ListedBackup[]> {
    const files = (await readdir(join(this.path, MANIFESTS))).filter((name) => name.endsWith('.json')).sort();
    return Promise.all(files.map((file) => this.#read(file.slice(0, -'.json'.length))));
  }

  /**
   * One backup. @param id default: the newest
   * @throws DomainError `not_found`, `invalid`
   */
  async manifest(id?: string): Promise<Manifest> {
    const backups = await this.list();
    const found = id === undefined ? backups.at(-1) : backups.find((backup) => backup.id === id);
    if (found === undefined) {
      const what = id === undefined ? 'no complete backup' : `no complete backup ${id}`;
      throw new DomainError('not_found', `There is ${what} in ${this.path} (see list-backups)`);
    }
    if (found.manifest === null) throw new DomainError('invalid', found.problem ?? '');
    return found.manifest;
  }

  /** When the backup was begun that was cut off; null: none was. */
  async unfinished(): Promise<string | null> {
    const text = await readFile(join(this.path, UNFINISHED), 'utf8').catch(absent);
    if (text === null) return null;
    try {
      return String((JSON.parse(text) as { begun_at?: unknown }).begun_at);
    } catch {
      return 'an unknown time';
    }
  }

  async begin(): Promise<void> {
    await writeFile(join(this.path, UNFINISHED), JSON.stringify({ begun_at: new Date().toISOString() }), {
      mode: 0o600,
    });
  }

  /** Makes a backup of what was put: from here on it is one, also after a loss of power. */
  async finish(manifest: Manifest): Promise<void> {
    // All: contents that were found may be of a backup that was cut off before this.
    for (const fan of await readdir(join(this.path, OBJECTS))) await syncFolder(join(this.path, OBJECTS, fan));
    await syncFolder(join(this.path, OBJECTS));
    const text = JSON.stringify(manifest);
    const sha256 = createHash('sha256').update(text).digest('hex');
    const draft = join(this.path, INCOMING, `${manifest.id}.json`);
    const file = await open(draft, 'w', 0o600);
    try {
      await file.writeFile(`{"sha256":"${sha256}","manifest":${text}}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(this.path, MANIFESTS, `${manifest.id}.json`));
    await syncFolder(join(this.path, MANIFESTS));
    await rm(join(this.path, UNFINISHED), { force: true });
  }

  /** Whether a content is there, as far as its size tells. */
  async has({ sha256, bytes }: Content): Promise<boolean> {
    return (await stat(this.object(sha256)).catch(absent))?.size === bytes;
  }

  /** Takes in a file, unless its content is there. @returns the content, and whether it is new here */
  async put(source: string): Promise<Content & { readonly isNew: boolean }> {
    const draft = join(this.path, INCOMING, randomUUID());
    try {
      const content = await copyHashed(createReadStream(source), draft);
      if (await this.has(content)) {
        await rm(draft);
        return { ...content, isNew: false };
      }
      const place = this.object(content.sha256);
      await mkdir(dirname(place), { recursive: true, mode: 0o700 });
      await rename(draft, place);
      return { ...content, isNew: true };
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  object(sha256: string): string {
    return join(this.path, OBJECTS, sha256.slice(0, 2), sha256);
  }

  /** Removes a backup's list; its contents go with {@link collect}. */
  async remove(id: string): Promise<void> {
    await rm(join(this.path, MANIFESTS, `${id}.json`), { force: true });
    await syncFolder(join(this.path, MANIFESTS));
  }

  /**
   * Removes contents that no backup holds, such as those of one that was cut off. Whatever a list that cannot be read may
   * have held stays.
   * @returns bytes freed
   * @throws DomainError `invalid` when there is such a list
   */
  async collect(): Promise<number> {
    const kept = new Set<string>();
    for (const { manifest, problem } of await this.list()) {
      if (manifest === null) throw new DomainError('invalid', `Nothing is removed: ${problem ?? ''}`);
      for (const { sha256 } of contentsOf(manifest)) kept.add(sha256);
    }
    let freed = 0;
    for (const fan of await readdir(join(this.path, OBJECTS)))
      for (const name of await readdir(join(this.path, OBJECTS, fan))) {
        if (kept.has(name)) continue;
        const path = join(this.path, OBJECTS, fan, name);
        freed += (await stat(path)).size;
        await rm(path);
      }
    await rm(join(this.path, UNFINISHED), { force: true });
    return freed;
  }

  async #read(id: string): Promise<ListedBackup> {
    const path = join(this.path, MANIFESTS, `${id}.json`);
    try {
      const [, sha256 = '', text = ''] =
        /^\{"sha256":"([0-9a-f]{64})","manifest":(.*)\}\n$/s.exec(await readFile(path, 'utf8')) ?? [];
      if (createHash('sha256').update(text).digest('hex') !== sha256)
        throw new DomainError('invalid', `${path} is damaged: use another backup (list-backups), or remove this file`);
      return { id, manifest: readManifest(JSON.parse(text), path), problem: null };
    } catch (error) {
      return { id, manifest: null, problem: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** @throws DomainError `invalid` for the address of a bucket, which would become a folder of that name */
function pathOf(given: string): string {
  if (/^[a-z0-9]+:\/\//i.test(given))
    throw new DomainError(
      'invalid',
      `${given} is no folder: back up to a folder, and copy that to the bucket with its own tools (such as aws s3 sync)`,
    );
  return resolve(given);
}

/** When the last complete backup in a folder was taken; null: there is none. */
export async function lastBackupAt(path: string): Promise<number | null> {
  const ids = ((await readdir(join(path, MANIFESTS)).catch(absent)) ?? []).sort();
  const [, day, hour, minute, second] = /^(\d{8})T(\d\d)(\d\d)(\d\d)Z\.json$/.exec(ids.at(-1) ?? '') ?? [];
  if (day === undefined) return null;
  return Date.parse(`${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T${hour}:${minute}:${second}Z`);
}

async function isMarked(path: string): Promise<boolean> {
  const text = await readFile(join(path, MARK), 'utf8').catch(absent);
  if (text === null || text === '') return false;
  const { format } = JSON.parse(text) as { format?: unknown };
  if (format !== FOLDER_FORMAT)
    throw new DomainError('invalid', `${path} is a folder of backups of another version of Spanhouse: use that one`);
  return true;
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}
