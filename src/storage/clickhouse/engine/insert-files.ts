import { mkdirSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Hands the data of an INSERT to the engine as a file. Behind the statement itself, which is chDB's own way, data ends
 * at the first empty line, in binary formats too, and what follows is run as a further statement: a text with a blank
 * line in it would break the insert, and a chosen one could run SQL. From a file nothing but data is ever read, and it
 * takes less time.
 */
export class InsertFiles {
  readonly #directory: string;
  #serial = 0;

  /** @param path the engine's data directory; files left behind by a crash are removed. */
  constructor(path: string) {
    this.#directory = join(path, 'incoming');
    rmSync(this.#directory, { recursive: true, force: true });
    mkdirSync(this.#directory, { recursive: true });
  }

  /** Runs `insert` with the path of a file that holds `data`; the file is gone afterwards. */
  async provide<T>(data: Buffer, insert: (path: string) => Promise<T>): Promise<T> {
    this.#serial += 1;
    const path = join(this.#directory, String(this.#serial));
    // Into the page cache, at memory's speed; handing it to another thread would cost more.
    writeFileSync(path, data);
    try {
      return await insert(path);
    } finally {
      unlinkSync(path);
    }
  }
}
