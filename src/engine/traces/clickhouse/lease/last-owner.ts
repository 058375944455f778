import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'clickhouse.lease';

/**
 * Remembers which owner of a lease worked on this `DATA_DIR` last. The holder of the lock of the directory knows that this
 * owner has ended, and need not wait for its lease to expire.
 *
 * The file names its own inode as well: in a copy of the directory, whose original may still be at work, it says nothing.
 */
export class LastOwner {
  readonly #path: string;

  constructor(dataDir: string) {
    this.#path = join(dataDir, FILE);
  }

  read(): string | null {
    try {
      const [owner, inode] = readFileSync(this.#path, 'utf8').trim().split(' ');
      return inode === this.#inode() && owner !== undefined ? owner : null;
    } catch {
      return null;
    }
  }

  write(owner: string): void {
    writeFileSync(this.#path, '', { flag: 'a' });
    writeFileSync(this.#path, `${owner} ${this.#inode()}\n`);
  }

  #inode(): string {
    return String(statSync(this.#path, { bigint: true }).ino);
  }
}
