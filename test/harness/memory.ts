import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);
const KILOBYTES_PER_MEGABYTE = 1024;
const EVERY_MS = 50;

/** The resident memory of processes while it is watched. */
export class MemoryWatch {
  readonly #pids: readonly number[];
  readonly #peaks: number[];
  readonly #watching: Promise<void>;
  #stopped = false;

  constructor(...pids: readonly number[]) {
    this.#pids = pids;
    this.#peaks = pids.map(() => 0);
    this.#watching = this.#watch();
  }

  /** @returns the peak of each process, in MB of 2^20 bytes */
  async stop(): Promise<readonly number[]> {
    this.#stopped = true;
    await this.#watching;
    return this.#peaks;
  }

  async #watch(): Promise<void> {
    while (!this.#stopped) {
      for (const [index, pid] of this.#pids.entries()) {
        // A process that has gone takes nothing.
        const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]).catch(() => ({ stdout: '0' }));
        const megabytes = Math.round(Number(stdout) / KILOBYTES_PER_MEGABYTE);
        this.#peaks[index] = Math.max(this.#peaks[index] ?? 0, megabytes);
      }
      await sleep(EVERY_MS);
    }
  }
}
