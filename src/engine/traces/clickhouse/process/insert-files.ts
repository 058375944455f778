import { closeSync, mkdirSync, openSync, rmSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Hands the data of an INSERT to the engine as a file. Behind the statement itself, which is chDB's own way, data ends
 * at the first empty line, in binary formats too, and what follows is run as a further statement: a text with a blank
 * line in it would break the insert, and a chosen one could run SQL. From a file nothing but data is ever read, and that
 * takes less time.
 *
 * The file is named by its descriptor, for the engine takes a path for a pattern: with a data directory called
 * `logs*` it would read the files of others as well, with `{1..3}` in it none at all, and report success.
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
    const name = join(this.#directory, String(this.#serial));
    const file = openSync(name, 'wx+', 0o600);
    try {
      // The descriptor is enough for the engine: without a name, no crash leaves the file behind.
      unlinkSync(name);
      // Writing goes to the page cache, at memory's speed; handing it to another thread would cost more. Positions are
      // given so that the descriptor still stands at the start where opening it again (macOS) gives the same one.
      for (let at = 0; at < data.length;) at += writeSync(file, data, at, data.length - at, at);
      return await insert(`/dev/fd/${file}`);
    } finally {
      closeSync(file);
    }
  }
}
