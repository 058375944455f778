import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import pLimit from 'p-limit';
import { backupId } from '../backup-id.js';
import {
  MANIFEST_FORMAT,
  type FileContent,
  type Manifest,
  type PartFiles,
} from '../../../engine/traces/model/backup/manifest.js';
import type { Snapshot } from '../snapshot.js';
import { DomainError } from '../../../engine/errors.js';
import { locationOf } from '../../images/store/failure.js';
import { packageVersion } from '../../../engine/files/schema-files.js';
import { readMetadataCopy, type MetadataCopy } from '../../../engine/metadata/metadata-snapshot.js';
import type { Backups } from './backups.js';
import type { Content } from './hashed-copy.js';
import { inPortions } from './in-portions.js';

const FILES_AT_ONCE = 8;
/** Larger files of a part that the last backup has are taken over unread: the hashes of the part's small ones stand for them. */
const SMALL_BYTES = 64 * 1024;
/** The file of a part with the engine's own checksums of all others. */
const CHECKSUMS = 'checksums.txt';

/**
 * Images of one backup. Its list is one string, with some 150 bytes for each and those of the files of parts beside them, and Node
 * has strings of half a gigabyte.
 */
const MAX_IMAGES = 3_000_000;

export interface CopyProgress {
  /** Called once, with the bytes of everything that is backed up. */
  total(bytes: number): void;
  done(bytes: number): void;
}

export interface CopyOptions extends CopyProgress {
  /** Called when all is copied; what it throws keeps it from being a backup. */
  beforeFinish(): Promise<void>;
  /** Default: as many as a list takes. */
  readonly mostImages?: number;
}

export interface Copied {
  readonly manifest: Manifest;
  /** Bytes that no earlier backup had. */
  readonly newBytes: number;
  /** Images that should be there and are not, or not whole: they were lost before. */
  readonly lostImages: number;
}

interface File extends Omit<FileContent, 'sha256'> {
  readonly path: string;
}

interface Part {
  readonly table: string;
  readonly name: string;
  readonly files: readonly File[];
}

/**
 * Copies a snapshot and makes a backup of it. Interrupted anywhere, it is only begun again.
 * @throws DomainError `too_large`, before anything is copied
 */
export async function copySnapshot(snapshot: Snapshot, backups: Backups, options: CopyOptions): Promise<Copied> {
  return new SnapshotCopy(snapshot, backups, options).run();
}

class SnapshotCopy {
  readonly #snapshot: Snapshot;
  readonly #backups: Backups;
  readonly #options: CopyOptions;
  readonly #limit = pLimit(FILES_AT_ONCE);
  #done = 0;
  #newBytes = 0;

  constructor(snapshot: Snapshot, backups: Backups, options: CopyOptions) {
    this.#snapshot = snapshot;
    this.#backups = backups;
    this.#options = options;
  }

  async run(): Promise<Copied> {
    const { metadata: file, takenAt, upTo, migrations, figures, images: held } = this.#snapshot;
    // Of the list, which is long, only what is needed is kept.
    const known = partsOf(await this.#backups.newest());
    const parts = await this.#parts();
    const metadataBytes = (await stat(file)).size;
    // Before it is read: reading may leave files beside it, and never changes it.
    const { rows, images } = readMetadataCopy(file);
    if (held !== null) requireFew(images.length, this.#options.mostImages ?? MAX_IMAGES);
    const bytes = parts.flatMap(({ files }) => files).reduce((sum, each) => sum + each.bytes, metadataBytes);
    this.#options.total(held === null ? bytes : images.reduce((sum, image) => sum + image.bytes, bytes));
    await this.#backups.begin();
    const metadata = await this.#put(file);
    const copied = await Promise.all(parts.map((part) => this.#part(part, known.get(`${part.table}/${part.name}`))));
    const manifest: Manifest = {
      format: MANIFEST_FORMAT,
      id: backupId(takenAt),
      taken_at: takenAt,
      spanhouse: packageVersion(),
      up_to: upTo,
      migrations: [...migrations],
      tables: this.#snapshot.tables.map(({ name }) => ({
        name,
        parts: copied.filter((_, index) => parts[index]?.table === name),
      })),
      metadata: { ...metadata, rows: { ...rows } },
      images: held === null ? null : await this.#images(images),
      figures: [...figures],
    };
    await this.#options.beforeFinish();
    await this.#backups.finish(manifest);
    const lostImages = held === null ? 0 : images.length - (manifest.images?.length ?? 0);
    return { manifest, newBytes: this.#newBytes, lostImages };
  }

  async #parts(): Promise<Part[]> {
    const parts: Part[] = [];
    for (const { name: table, folder } of this.#snapshot.tables)
      // A table without parts has no folder.
      for (const name of (await readdir(folder).catch(absent)) ?? [])
        if (name !== 'format_version.txt') parts.push({ table, name, files: await filesIn(join(folder, name)) });
    return parts;
  }

  async #part({ name, files }: Part, known: PartFiles | undefined): Promise<PartFiles> {
    const small = files.filter(({ bytes }) => bytes <= SMALL_BYTES);
    const contents = new Map<string, Content>();
    await Promise.all(
      small.map(({ place, path }) => this.#limit(async () => contents.set(place, await this.#put(path)))),
    );
    const sums = contents.get(CHECKSUMS)?.sha256;
    const earlier = new Map(known?.files.map((file) => [file.place, file]));
    const isKnown = sums !== undefined && earlier.get(CHECKSUMS)?.sha256 === sums;
    await Promise.all(
      files
        .filter(({ bytes }) => bytes > SMALL_BYTES)
        .map((file) =>
          this.#limit(async () => {
            const same = isKnown ? earlier.get(file.place) : undefined;
            const taken = same?.bytes === file.bytes && (await this.#backups.has(same)) ? this.#count(same) : null;
            contents.set(file.place, taken ?? (await this.#put(file.path)));
          }),
        ),
    );
    const rows = files.find(({ place }) => place === 'count.txt');
    return {
      name,
      rows: rows === undefined ? 0 : Number(await readFile(rows.path, 'utf8')),
      files: files.flatMap(({ place }) => {
        const content = contents.get(place);
        return content === undefined ? [] : [{ place, sha256: content.sha256, bytes: content.bytes }];
      }),
    };
  }

  async #images(images: MetadataCopy['images']): Promise<NonNullable<Manifest['images']>> {
    const isThere = await inPortions(images, this.#limit, async (image) => {
      if (!(await this.#backups.has(image))) return this.#putImage(image);
      this.#count(image);
      return true;
    });
    return images.filter((_, index) => isThere[index]);
  }

  /** @returns false when it is nowhere: lost before, as the server would find out when someone asks for it */
  async #putImage({ project_id, sha256 }: MetadataCopy['images'][number]): Promise<boolean> {
    const { images } = this.#snapshot;
    for (const root of images === null ? [] : [images.folder, images.removed, images.folder]) {
      const put = await this.#put(join(root, ...locationOf(project_id, sha256))).catch(absent);
      if (put !== null) return put.sha256 === sha256;
    }
    return false;
  }

  async #put(path: string): Promise<Content> {
    const content = await this.#backups.put(path);
    if (content.isNew) this.#newBytes += content.bytes;
    return this.#count(content);
  }

  #count<T extends Content>(content: T): T {
    this.#done += content.bytes;
    this.#options.done(this.#done);
    return content;
  }
}

function requireFew(images: number, most: number): void {
  if (images > most)
    throw new DomainError(
      'too_large',
      `There are ${images} images, and a backup can hold at most ${most}: delete old ones (retention_days of projects), or stop the ` +
        'server and copy DATA_DIR as it is. Nothing was copied',
    );
}

function partsOf(manifest: Manifest | null): Map<string, PartFiles> {
  return new Map(
    manifest?.tables.flatMap((table) => table.parts.map((part) => [`${table.name}/${part.name}`, part] as const)),
  );
}

async function filesIn(folder: string): Promise<File[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    paths.map(async (path) => ({
      path,
      place: relative(folder, path).split(sep).join('/'),
      bytes: (await stat(path)).size,
    })),
  );
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}
