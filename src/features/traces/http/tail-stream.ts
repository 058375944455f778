import { Readable } from 'node:stream';
import type { Tail, TailNews } from '../../../engine/traces/model/list/tail.js';

/** After so long without news the client, and whatever lies between, is told that the connection stands. */
const PING_MS = 15_000;
/** How often it is looked whether the client may continue; also before anything is told. */
const LOOK_MS = 3_000;
/** How long clients should wait before they come again. */
const RETRY_MS = 1_000;

/**
 * A tail as server-sent events. One event is made at a time, and the next only when the client has taken it: a slow reader gets
 * less, with how much was left out, and nothing is read for one that does not read.
 */
export class TailStream extends Readable {
  readonly #tail: Tail;
  readonly #isAdmitted: () => boolean;
  #begun = false;
  #making = false;
  #toldAt = performance.now();

  /** @param isAdmitted whether the client's key still counts */
  constructor(tail: Tail, isAdmitted: () => boolean) {
    super();
    this.#tail = tail;
    this.#isAdmitted = isAdmitted;
  }

  override _read(): void {
    if (this.#making) return;
    this.#making = true;
    this.#event().then(
      (text) => {
        this.#making = false;
        for (const piece of piecesOf(text)) this.push(piece);
      },
      (error: unknown) => this.destroy(error as Error),
    );
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#tail.end();
    callback(error);
  }

  /** The next text to be sent; null: it ends here. */
  async #event(): Promise<string | null> {
    if (!this.#begun) {
      this.#begun = true;
      return `retry: ${RETRY_MS}\n${this.#ping('open')}`;
    }
    for (;;) {
      const news = await this.#tail.next(LOOK_MS);
      if (this.#tail.isEnded || !this.#isAdmitted()) return null;
      if (news === null && performance.now() - this.#toldAt < PING_MS) continue;
      this.#toldAt = performance.now();
      return news === null ? this.#ping('ping') : eventsOf(news);
    }
  }

  /** The id lets a tail that had nothing to tell for long continue from here. */
  #ping(word: string): string {
    return `id: ${this.#tail.state}\n: ${word}\n\n`;
  }
}

/** Pieces so small that it can be told how much of an event the client has taken; null: the end. */
function* piecesOf(text: string | null): Generator<Buffer | null> {
  if (text === null) yield null;
  const bytes = Buffer.from(text ?? '');
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}

const PIECE_BYTES = 64 * 1024;

function eventsOf({ rows, skipped, state }: TailNews): string {
  const gap = skipped === 0 ? '' : event('gap', state, JSON.stringify({ skipped }));
  // JSON as the store writes it has no end of a line within.
  return gap + (rows.length === 0 ? '' : event('rows', state, `[${rows.join(',')}]`));
}

const event = (name: string, id: number, data: string) => `id: ${id}\nevent: ${name}\ndata: ${data}\n\n`;
