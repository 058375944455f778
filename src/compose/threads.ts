import { Worker, type ResourceLimits, type Transferable } from 'node:worker_threads';
import { FairSemaphore } from '../engine/work/fair-semaphore.js';

/** The bytes, in memory that holds nothing else: so it can move to another thread. */
export function movable(bytes: Uint8Array): Buffer<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== byteLength) return movable(new Uint8Array(bytes));
  return Buffer.from(buffer, 0, byteLength);
}

/** Bytes as a buffer: what another thread sent has lost that class. */
export function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A thread ended before it had done what it was asked. */
export class ThreadLostError extends Error {
  /** Whether it needed more memory than it may have. */
  readonly outOfMemory: boolean;

  constructor(cause: unknown) {
    super('The thread ended before it responded', { cause });
    this.name = 'ThreadLostError';
    this.outOfMemory = cause instanceof Error && 'code' in cause && cause.code === 'ERR_WORKER_OUT_OF_MEMORY';
  }
}

export interface ThreadsOptions {
  /** What is counted, in the plural. */
  readonly what: string;
  /** Answers each message to `parentPort` by one of its own. */
  readonly module: URL;
  /** Most threads. Each is started when it is first needed. */
  readonly count: number;
  /** The `workerData` of each. */
  readonly data: unknown;
  readonly resourceLimits: ResourceLimits;
}

/**
 * Has a thread answer a message.
 * @param moved what of the message goes over to the thread, instead of being copied
 * @param signal ends the thread with what it is at
 * @throws ThreadLostError, and the signal's reason
 */
export type AskThread = <Answer>(message: unknown, moved: Transferable[], signal?: AbortSignal) => Promise<Answer>;

/**
 * Threads that answer messages, one at a time each. Parties take turns at them, so that no one waits for more than one message of each
 * other party. A thread that ends fails the message that it was at, and nothing else: the next one gets a new thread.
 */
export class Threads {
  readonly #options: ThreadsOptions;
  readonly #turns: FairSemaphore;
  readonly #all = new Set<Thread>();
  /** Those that do nothing; never more than may be idle, as each turn takes one. */
  readonly #idle: Thread[] = [];
  #closed = false;

  constructor(options: ThreadsOptions) {
    this.#options = options;
    this.#turns = new FairSemaphore(options.what, { atOnce: options.count });
  }

  /** Whether no thread answers anymore, as {@link close} was called. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when it is the party's turn, unless the signal aborts first, with what has a thread answer one message. The caller calls that once. */
  async take(party: string, waits?: AbortSignal): Promise<AskThread> {
    const end = await this.#turns.take(party, waits);
    return async <Answer>(message: unknown, moved: Transferable[], signal?: AbortSignal) => {
      let thread: Thread | undefined;
      const stop = () => {
        // No one gets it anymore, also while it ends.
        if (thread !== undefined) this.#all.delete(thread);
        void thread?.end();
      };
      try {
        signal?.throwIfAborted();
        thread = this.#idle.pop() ?? this.#start();
        signal?.addEventListener('abort', stop);
        return (await thread.ask(message, moved)) as Answer;
      } catch (error) {
        signal?.throwIfAborted();
        throw error;
      } finally {
        signal?.removeEventListener('abort', stop);
        if (thread !== undefined && this.#all.has(thread)) this.#idle.push(thread);
        end();
      }
    };
  }

  /** Ends all threads, whatever they are at. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#all].map((thread) => thread.end()));
  }

  /** @throws ThreadLostError when all were ended */
  #start(): Thread {
    if (this.#closed) throw new ThreadLostError(new Error('All threads have ended'));
    const { module, data, resourceLimits } = this.#options;
    const worker = new Worker(module, { workerData: data, resourceLimits });
    const thread = new Thread(worker);
    this.#all.add(thread);
    worker.once('exit', () => {
      this.#all.delete(thread);
      const at = this.#idle.indexOf(thread);
      if (at !== -1) this.#idle.splice(at, 1);
    });
    return thread;
  }
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(error: unknown): void;
}

class Thread {
  readonly #worker: Worker;
  #waiting: Waiting | null = null;
  #failure: unknown = new Error('The thread has ended');

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on('message', (answer) => this.#settle((waiting) => waiting.resolve(answer)));
    worker.on('error', (error) => (this.#failure = error));
    worker.on('exit', () => this.#settle((waiting) => waiting.reject(new ThreadLostError(this.#failure))));
  }

  ask(message: unknown, moved: Transferable[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#worker.postMessage(message, moved);
    });
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(how: (waiting: Waiting) => void): void {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting !== null) how(waiting);
  }
}
