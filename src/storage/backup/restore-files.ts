import { createReadStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Manifest, PartFiles } from '../../domain/backup/manifest.js';
import { DomainError } from '../../domain/errors.js';
import { locationOf } from '../attachments/failure.js';
import type { BackupFolder } from './backup-folder.js';
import { copyHashed, syncFolder, type Content } from './hashed-copy.js';

const FILES_AT_ONCE = 4;

/** Copies contents of backups to their places, each checked by its hash while it is copied. */
export class RestoredFiles {
  readonly #folder: BackupFolder;
  readonly #done: (bytes: number) => void;
  readonly #limit: LimitFunction = pLimit(FILES_AT_ONCE);
  #bytes = 0;

  /** @param done told of all bytes copied so far */
  constructor(folder: BackupFolder, done: (bytes: number) => void) {
    this.#folder = folder;
    this.#done = done;
  }

  /** @throws DomainError `invalid` when the content is damaged or missing */
  async file({ sha256, bytes }: Content, to: string): Promise<void> {
    const source = this.#folder.object(sha256);
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    const copied = await copyHashed(createReadStream(source), to).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    });
    if (copied?.sha256 !== sha256)
      throw new DomainError(
        'invalid',
        `${source} is ${copied === null ? 'missing' : 'damaged'}: restore another backup (verify-backup says which are whole)`,
      );
    this.#bytes += bytes;
    this.#done(this.#bytes);
  }

  /** @param folder of the table where the engine looks for parts to attach */
  async part({ name, files }: PartFiles, folder: string): Promise<void> {
    await Promise.all(files.map((file) => this.#limit(() => this.file(file, join(folder, name, file.place)))));
    await syncFolder(join(folder, name));
  }

  async images(images: NonNullable<Manifest['images']>, root: string): Promise<void> {
    await Promise.all(
      images.map((image) =>
        this.#limit(() => this.file(image, join(root, ...locationOf(image.project_id, image.sha256)))),
      ),
    );
  }
}
