import { CommitQueue, type GroupLimits, type Queued } from '../../src/engine/traces/write/commit-queue.js';
import type { LogRecord } from '../../src/engine/traces/write/log/record.js';
import { bytesOf, type GroupWriter } from './log-ways.js';

interface Waiting extends Queued {
  readonly record: LogRecord;
  resolve(): void;
  reject(error: unknown): void;
}

/** Groups what is appended as the server's commit log does: what comes during one write is written by the next. */
export class GroupCommit {
  readonly #writer: GroupWriter;
  readonly #limits: GroupLimits;
  readonly #queue = new CommitQueue<Waiting>(Infinity);
  #running: Promise<void> | null = null;

  constructor(writer: GroupWriter, limits: GroupLimits) {
    this.#writer = writer;
    this.#limits = limits;
  }

  /** Resolves once the record is durable. */
  append(record: LogRecord): Promise<void> {
    return new Promise((resolve, reject) => {
      const { projectId, rows } = record;
      this.#queue.add({ projectId, rows, bytes: bytesOf(record), record, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    // Requests of the same turn of the event loop come in the same group.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const group = this.#queue.nextGroup(this.#limits);
      try {
        await this.#writer.write(group.map(({ record }) => record));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      } finally {
        for (const request of group) this.#queue.release(request);
      }
    }
    this.#running = null;
  }
}
