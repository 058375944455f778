import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { ImportError } from './import-error.js';
import type { Tally } from './tally.js';

const FORMAT = 1;

/** How far an import is. */
export interface ImportProgress {
  readonly cursor: unknown;
  readonly tally: Tally;
}

/** Where an import goes to, and from where. A project of the same id that is made anew is another one. */
export interface ImportPlace {
  readonly source: string;
  readonly url: string;
  readonly project: string;
  readonly project_created_at: string;
}

interface StateFile extends ImportProgress {
  readonly spanhouse_import: number;
  readonly place: ImportPlace;
}

/** The file in which an import notes how far it is. Without it, everything is sent again, which changes nothing. */
export class ImportStateFile {
  readonly path: string;
  readonly #place: ImportPlace;

  /** @param path null: one of its own for the place, in the user's folder for states */
  constructor(path: string | null, place: ImportPlace) {
    this.path = path ?? ownPath(place);
    this.#place = place;
  }

  /** Null: there is none, or one of another place. @throws ImportError when it cannot be read */
  async read(): Promise<ImportProgress | null> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw new ImportError(`${this.path} cannot be read: ${(error as Error).message}`);
    }
    const state = stateIn(text);
    if (state === null)
      throw new ImportError(`${this.path} is not the state of an import: name another file with --state, or remove it`);
    const isSame = (Object.keys(this.#place) as (keyof ImportPlace)[]).every(
      (name) => state.place[name] === this.#place[name],
    );
    return isSame ? { cursor: state.cursor, tally: state.tally } : null;
  }

  /** @throws ImportError when it cannot be written */
  async write(progress: ImportProgress): Promise<void> {
    const state: StateFile = { spanhouse_import: FORMAT, place: this.#place, ...progress };
    try {
      await mkdir(dirname(this.path), { recursive: true });
      await writeFile(`${this.path}.new`, JSON.stringify(state), { mode: 0o600, flush: true });
      await rename(`${this.path}.new`, this.path);
    } catch (error) {
      throw new ImportError(
        `${this.path} cannot be written (${(error as Error).message}): name another file with --state`,
      );
    }
  }
}

function stateIn(text: string): StateFile | null {
  try {
    const state = JSON.parse(text) as Partial<StateFile> | null;
    const isSound =
      state?.spanhouse_import === FORMAT && typeof state.place === 'object' && typeof state.tally === 'object';
    return isSound ? (state as StateFile) : null;
  } catch {
    return null;
  }
}

function ownPath(place: ImportPlace): string {
  const folder = process.env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state');
  const name = createHash('sha256').update(JSON.stringify(place)).digest('hex').slice(0, 16);
  return join(folder, 'spanhouse', `import-${name}.json`);
}
