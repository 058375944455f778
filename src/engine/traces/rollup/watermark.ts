import type { ClickHouseClient } from '../clickhouse/client/client.js';
import type { Version } from '../write/version-clock.js';
import { readWatermark, writeWatermark } from './recovery.js';

/** Everything below the watermark is rolled up for good; recovery at start begins there. */
export class Watermark {
  readonly #client: ClickHouseClient;
  #version: Version = 0;
  #movedAt = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(client: ClickHouseClient) {
    this.#client = client;
  }

  get version(): Version {
    return this.#version;
  }

  /** Takes over what is stored. */
  async load(): Promise<void> {
    this.#version = await readWatermark(this.#client);
  }

  /**
   * Moves it on to what is settled, unless it was moved less than `interval` milliseconds ago.
   * @param settled the version up to which everything is rolled up; null: that may change
   */
  async move(settled: Version | null, interval: number): Promise<void> {
    // One write at a time: to wait for the last of them, as a stop does, is to wait for all.
    const turn = this.#writing.then(() => this.#write(settled, interval));
    this.#writing = turn.catch(() => undefined);
    await turn;
  }

  async #write(settled: Version | null, interval: number): Promise<void> {
    if (performance.now() - this.#movedAt < interval) return;
    if (settled === null || settled <= this.#version) return;
    this.#movedAt = performance.now();
    await writeWatermark(this.#client, settled);
    this.#version = settled;
  }
}
