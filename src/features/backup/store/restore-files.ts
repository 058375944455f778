import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Manifest, PartFiles } from '../../../engine/traces/model/backup/manifest.js';
import { DomainError } from '../../../engine/errors.js';
import { locationOf } from '../../images/store/failure.js';
import type { Backups } from './backups.js';
import { copyHashed, type Content } from './hashed-copy.js';
import { syncFolder } from '../../../engine/files/sync-folder.js';
import { inPortions } from './in-portions.js';

const FILES_AT_ONCE = 8;

/** Copies contents of backups to their places, each checked by its hash while it is copied. */
export class RestoredFiles {
  readonly #backups: Backups;
  readonly #done: (bytes: number) => void;
  readonly #limit: LimitFunction = pLimit(FILES_AT_ONCE);
  #bytes = 0;

  /** @param done called with all bytes copied so far */
  constructor(backups: Backups, done: (bytes: number) => void) {
    this.#backups = backups;
    this.#done = done;
  }

  /** @throws DomainError `invalid` when the content is damaged or missing */
  async file({ sha256, bytes }: Content, to: string): Promise<void> {
    await mkdir(dirname(to), { recursive: true, mode: 0o700 });
    const source = await this.#backups.read(sha256);
    const copied = source === null ? null : await copyHashed(source, to);
    if (copied?.sha256 !== sha256) {
      const what = `${this.#backups.where(sha256)} is ${copied === null ? 'missing' : 'damaged'}`;
      throw new DomainError('invalid', `${what}: restore another backup (verify-backup shows which are intact)`);
    }
    this.#bytes += bytes;
    this.#done(this.#bytes);
  }

  /** @param folder of the table where the engine looks for parts to attach */
  async part({ name, files }: PartFiles, folder: string): Promise<void> {
    await Promise.all(files.map((file) => this.#limit(() => this.file(file, join(folder, name, file.place)))));
    // A part may hold folders, of its projections.
    const folders = new Set([join(folder, name), ...files.map((file) => dirname(join(folder, name, file.place)))]);
    for (const each of folders) await syncFolder(each);
  }

  async images(images: NonNullable<Manifest['images']>, root: string): Promise<void> {
    await inPortions(images, this.#limit, (image) =>
      this.file(image, join(root, ...locationOf(image.project_id, image.sha256))),
    );
  }
}
