import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { text as textOf } from 'node:stream/consumers';
import pLimit from 'p-limit';
import { isDatedAhead, momentOf } from '../backup-id.js';
import { contentsOf, readManifest, type Manifest } from '../../../engine/traces/model/backup/manifest.js';
import type { LastBackup } from '../snapshot.js';
import { DomainError } from '../../../engine/errors.js';
import type { Content } from './hashed-copy.js';
import { inPortions } from './in-portions.js';
import type { BackupPlace, PlaceLock } from './place.js';

/** Says that a place is one of backups: nothing is ever removed from another. */
const MARK = 'spanhouse-backups.json';
const OBJECTS = 'objects';
const MANIFESTS = 'backups';
const UNFINISHED = 'unfinished.json';
const FORMAT = 1;
const FILES_AT_ONCE = 8;

/** A backup, or why it cannot be read. */
export interface ListedBackup {
  readonly id: string;
  readonly manifest: Manifest | null;
  readonly problem: string | null;
}

/**
 * The backups in one place. Contents are kept once, as `objects/<first two digits>/<sha256>`, and each backup is a list of
 * them, `backups/<id>.json`, written last. So a further backup adds only what is new, a list without all of its contents
 * never comes to be, and what a cut-off backup copied is found again by the next.
 */
export class Backups {
  readonly place: BackupPlace;
  readonly #lock: PlaceLock | null;
  /** The backup that was finished here. */
  #made: string | null = null;

  private constructor(place: BackupPlace, lock: PlaceLock | null) {
    this.place = place;
    this.#lock = lock;
  }

  /**
   * Takes a place to write to it, alone, and makes it one of backups when nothing is there.
   * @throws DomainError `conflict` when something else is in it, or someone else writes to it
   */
  static async forWriting(place: BackupPlace): Promise<Backups> {
    if (!(await isMarked(place))) {
      // A full disk leaves the draft of the mark.
      if (!(await place.isEmpty(MARK)))
        throw new DomainError(
          'conflict',
          `${place.address} contains something other than backups: choose an empty or new folder`,
        );
      await place.write(MARK, `${JSON.stringify({ format: FORMAT })}\n`);
    }
    const lock = await place.lock();
    try {
      await place.clear(OBJECTS);
    } catch (error) {
      await lock.release();
      throw error;
    }
    return new Backups(place, lock);
  }

  /** @throws DomainError `not_found` when it is no place of backups */
  static async forReading(place: BackupPlace): Promise<Backups> {
    if (!(await isMarked(place))) throw new DomainError('not_found', `${place.address} is not a backup folder`);
    return new Backups(place, null);
  }

  /** Lets others write. */
  async close(): Promise<void> {
    await this.#lock?.release();
  }

  /** Names of the backups by their time, the oldest first. */
  ids(): Promise<string[]> {
    return idsIn(this.place);
  }

  /** Backups by their time, the oldest first, one at a time: of a million images, each has hundreds of megabytes. */
  async *all(): AsyncGenerator<ListedBackup> {
    for (const id of await this.ids()) yield await this.#read(id);
  }

  /** The newest that can be read; null: there is none. */
  async newest(): Promise<Manifest | null> {
    for (const id of (await this.ids()).reverse()) {
      const { manifest } = await this.#read(id);
      if (manifest !== null) return manifest;
    }
    return null;
  }

  /**
   * One backup. @param id default: the newest
   * @throws DomainError `not_found`, `invalid`
   */
  async manifest(id?: string): Promise<Manifest> {
    const ids = await this.ids();
    const wanted = id ?? ids.at(-1);
    if (wanted === undefined || !ids.includes(wanted)) {
      const what = id === undefined ? 'no complete backup' : `no complete backup ${id}`;
      throw new DomainError('not_found', `Found ${what} in ${this.place.address} (see list-backups)`);
    }
    const { manifest, problem } = await this.#read(wanted);
    if (manifest === null) throw new DomainError('invalid', problem ?? '');
    return manifest;
  }

  /** When the backup was begun that was interrupted; null: none was. */
  async unfinished(): Promise<string | null> {
    const text = await readText(this.place, UNFINISHED);
    if (text === null) return null;
    try {
      return String((JSON.parse(text) as { begun_at?: unknown }).begun_at);
    } catch {
      return 'an unknown time';
    }
  }

  async begin(): Promise<void> {
    await this.place.write(UNFINISHED, JSON.stringify({ begun_at: new Date().toISOString() }));
  }

  /** Makes a backup of what was put: from here on it is one, also after a loss of power. */
  async finish(manifest: Manifest): Promise<void> {
    // All: contents that were found may be of a backup that was interrupted before this.
    await this.place.settle(OBJECTS);
    await this.#lock?.requireHeld();
    const text = JSON.stringify(manifest);
    await this.place.write(manifestName(manifest.id), `{"sha256":"${hashOf(text)}","manifest":${text}}\n`);
    this.#made = manifest.id;
    await this.place.remove(UNFINISHED);
  }

  /** Whether a content is there, as far as its size tells. */
  async has({ sha256, bytes }: Content): Promise<boolean> {
    return (await this.place.size(objectName(sha256))) === bytes;
  }

  /** Takes in a file, unless its content is there. @returns the content, and whether it is new here */
  put(source: string): Promise<Content & { readonly isNew: boolean }> {
    return this.place.put(source, ({ sha256 }) => objectName(sha256));
  }

  /** A content; null: it is not there. */
  read(sha256: string): Promise<Readable | null> {
    return this.place.read(objectName(sha256));
  }

  /** How a message names a content. */
  where(sha256: string): string {
    return this.place.where(objectName(sha256));
  }

  /**
   * Removes all but the newest backups, and what no backup holds. Those that are dated ahead neither count nor go: how old they
   * are is not known.
   * @returns bytes freed
   * @throws DomainError `invalid` when it is not known what a backup holds: then nothing was removed
   */
  async prune(keep: number): Promise<number> {
    const isClear = (await this.unfinished()) === null;
    const dated = (await this.ids()).filter((id) => !isDatedAhead(id));
    // What was just made is the newest, unless the clock was set back meanwhile.
    const old = new Set(dated.slice(0, Math.max(0, dated.length - keep)).filter((id) => id !== this.#made));
    // Lists are long: they are read only where one may go.
    if (isClear && old.size === 0) return 0;
    const held = await this.#heldWithout(old);
    await this.#lock?.requireHeld();
    for (const id of old) await this.place.remove(manifestName(id));
    await this.place.settle(MANIFESTS);
    return this.#collect(held);
  }

  /**
   * Hashes of all contents of the backups that stay, each once, however many of these have it: a million take 130 MB.
   * @throws DomainError `invalid` when one cannot be read, whether it stays or not
   */
  async #heldWithout(old: ReadonlySet<string>): Promise<Set<string>> {
    const held = new Set<string>();
    for await (const { id, manifest, problem } of this.all()) {
      if (manifest === null) throw this.#unknown(id, problem);
      if (!old.has(id)) for (const { sha256 } of contentsOf(manifest)) held.add(sha256);
    }
    return held;
  }

  /** Whatever a list that cannot be read may hold stays. */
  #unknown(id: string, problem: string | null): DomainError {
    return new DomainError(
      'invalid',
      `Nothing was removed, because the contents of backup ${id} are unknown. ${problem ?? ''}. To give up that backup, remove ` +
        `${this.place.where(manifestName(id))}, and run prune-backups`,
    );
  }

  /** Removes contents that no backup holds, such as those of one that was interrupted. @param held hashes of the others */
  async #collect(held: ReadonlySet<string>): Promise<number> {
    const names = (await this.place.list(OBJECTS)).filter((name) => !held.has(name.slice(name.indexOf('/') + 1)));
    await this.#lock?.requireHeld();
    const freed = await inPortions(names, pLimit(FILES_AT_ONCE), async (name) => {
      const content = `${OBJECTS}/${name}`;
      const bytes = (await this.place.size(content)) ?? 0;
      await this.place.remove(content);
      return bytes;
    });
    await this.place.remove(UNFINISHED);
    return freed.reduce((sum, bytes) => sum + bytes, 0);
  }

  async #read(id: string): Promise<ListedBackup> {
    const name = manifestName(id);
    const where = this.place.where(name);
    try {
      const file = (await readText(this.place, name)) ?? '';
      const [, sha256 = '', text = ''] = /^\{"sha256":"([0-9a-f]{64})","manifest":(.*)\}\n$/s.exec(file) ?? [];
      if (hashOf(text) !== sha256)
        throw new DomainError('invalid', `${where} is damaged: use another backup (list-backups), or remove this file`);
      return { id, manifest: readManifest(JSON.parse(text), where), problem: null };
    } catch (error) {
      // Of a bucket that does not answer, nothing is known.
      if (error instanceof DomainError && error.kind !== 'invalid') throw error;
      return { id, manifest: null, problem: error instanceof Error ? error.message : String(error) };
    }
  }
}

/** Looks for the last complete backup in a place. */
export async function lastBackup(place: BackupPlace): Promise<LastBackup> {
  const ids = await idsIn(place);
  const now = Date.now();
  const moments = ids.flatMap((id) => (isDatedAhead(id, now) ? [] : (momentOf(id) ?? [])));
  return { at: moments.at(-1) ?? null, ahead: ids.filter((id) => isDatedAhead(id, now)) };
}

async function idsIn(place: BackupPlace): Promise<string[]> {
  const names = await place.list(MANIFESTS);
  return names.filter((name) => name.endsWith('.json')).map((name) => name.slice(0, -'.json'.length));
}

async function isMarked(place: BackupPlace): Promise<boolean> {
  const text = await readText(place, MARK);
  if (text === null || text === '') return false;
  const { format } = JSON.parse(text) as { format?: unknown };
  if (format !== FORMAT)
    throw new DomainError(
      'invalid',
      `${place.address} has backups from another version of Spanhouse: use that version`,
    );
  return true;
}

async function readText(place: BackupPlace, name: string): Promise<string | null> {
  const file = await place.read(name);
  return file === null ? null : textOf(file);
}

const objectName = (sha256: string) => `${OBJECTS}/${sha256.slice(0, 2)}/${sha256}`;
const manifestName = (id: string) => `${MANIFESTS}/${id}.json`;

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
