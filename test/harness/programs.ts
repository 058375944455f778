import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDataDir, removeDirectory } from './fresh-directory.js';
import { Program } from './program.js';

/** Programs, one after the other, on a data directory of their own. */
export class Programs {
  readonly dataDir: string;
  readonly #started: Program[] = [];

  private constructor(dataDir: string) {
    this.dataDir = dataDir;
  }

  static async make(): Promise<Programs> {
    return new Programs(await freshDataDir('spanhouse-programs-'));
  }

  /** On a directory without tables, also in a run of many files: for tests of how these come to be. */
  static async makeEmpty(): Promise<Programs> {
    return new Programs(await mkdtemp(join(tmpdir(), 'spanhouse-programs-')));
  }

  /** Starts one and leaves it alone. */
  spawn(env: Readonly<Record<string, string>> = {}): Program {
    const program = Program.spawn(this.dataDir, env);
    this.#started.push(program);
    return program;
  }

  /** Starts one and waits until it is ready. */
  async start(env: Readonly<Record<string, string>> = {}): Promise<Program> {
    const program = this.spawn(env);
    await program.ready();
    return program;
  }

  /** Kills what is left, and removes the data. */
  async dispose(): Promise<void> {
    for (const program of this.#started) await program.destroy();
    await removeDirectory(this.dataDir);
  }
}
