import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import { NotRunError } from './client-errors.js';
import { NOT_NOW } from './error-codes.js';

/** The pauses between two looks whether a statement that no one waits for still runs. */
const FIRST_PAUSE_MS = 20;
const LONGEST_PAUSE_MS = 1_000;

export interface AbandonedReadsParts {
  /** Kills statements whose text begins so. @returns whether there were any */
  kill(beginning: string): Promise<boolean>;
}

export interface ReadToRun<T> {
  /** Sends the statement with this comment before its text, and resolves once the answer is there. */
  send(mark: string): Promise<T>;
  readonly signal: AbortSignal | undefined;
  /** Called once ClickHouse no longer works on the statement. */
  onEnded(): void;
}

/**
 * Reads that their callers may leave. ClickHouse continues with a statement whose client is gone until it has something to send,
 * so that such a one is killed under a name of its own in its text, and counts until it has ended.
 */
export class AbandonedReads {
  readonly #kill: AbandonedReadsParts['kill'];
  readonly #client = randomUUID();
  #count = 0;
  #closed = false;

  constructor({ kill }: AbandonedReadsParts) {
    this.#kill = kill;
  }

  /**
   * Runs a read. One whose signal aborts is killed, and its connection kept until the answer to it is there.
   * @throws the signal's reason when that aborts, else what `send` throws.
   */
  async run<T>({ send, signal, onEnded }: ReadToRun<T>): Promise<T> {
    if (signal?.aborted === true) onEnded();
    signal?.throwIfAborted();
    const mark = `/* ${this.#client}-${(this.#count += 1)} */`;
    const answered = new AbortController();
    const abandoned = () => void this.#killUntil(mark, answered.signal);
    signal?.addEventListener('abort', abandoned, { once: true });
    try {
      const answer = await send(mark).catch((error: unknown) => {
        // Without an answer it may run on.
        if (error instanceof ClickHouseError || error instanceof NotRunError) onEnded();
        else void this.#killUntil(mark).then(onEnded);
        throw error;
      });
      onEnded();
      signal?.throwIfAborted();
      return answer;
    } finally {
      signal?.removeEventListener('abort', abandoned);
      answered.abort();
    }
  }

  close(): void {
    this.#closed = true;
  }

  /** Kills a statement until it is answered; default: until it runs no more, as far as ClickHouse can be asked. */
  async #killUntil(mark: string, answered?: AbortSignal): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      const runs = await this.#kill(mark).catch(mayRun);
      const isOver = answered === undefined ? !runs : answered.aborted;
      if (isOver || this.#closed) return;
      await sleep(pause, undefined, { ref: false, ...(answered && { signal: answered }) }).catch(() => undefined);
    }
  }
}

/** Whether a statement that could not be killed may still run: a ClickHouse that cannot be reached has no turns to keep. */
const mayRun = (error: unknown) => error instanceof ClickHouseError && NOT_NOW.has(Number(error.code));
