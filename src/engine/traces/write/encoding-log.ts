import type { WriteLog, WriteReceipt, Writes } from '../model/write-log.js';
import { encodeWrites, type EncodedWrites } from './encoded-writes.js';
import { tooLarge } from './refusals.js';
import { TooManyBytesError } from './row-binary.js';
import type { RowEncoder } from './rows.js';

/**
 * The log of a thread that stores nothing: it encodes spans for the thread that does, and keeps them until that asks. Its receipts
 * say nothing of when spans were taken in.
 */
export class EncodingLog implements WriteLog {
  readonly #encoder: RowEncoder;
  readonly #maxBytes: number;
  #encoded: EncodedWrites | null = null;

  /** @param maxBytes that one request may take once it is encoded */
  constructor(encoder: RowEncoder, maxBytes: number) {
    this.#encoder = encoder;
    this.#maxBytes = maxBytes;
  }

  /** Whether anything is taken is not for this thread to say. */
  admit(): void {}

  /** @throws DomainError `too_large` */
  async append({ projectId, spans = [], scores = [] }: Writes): Promise<WriteReceipt> {
    // Ids alone, not whole spans, go over to the thread that stores them.
    const ids = scores.map(({ id }) => ({ id }));
    const named = { projectId, spans: spans.map(({ trace_id, id }) => ({ trace_id, id })), scores: ids };
    this.#encoded = { ...this.#encode({ projectId, spans, scores }), named };
    return { createdAt: spans.map(() => 0) };
  }

  /** What was appended last, once. */
  take(): EncodedWrites | null {
    const encoded = this.#encoded;
    this.#encoded = null;
    return encoded;
  }

  #encode(writes: Writes): EncodedWrites {
    try {
      return encodeWrites(writes, this.#encoder, this.#maxBytes);
    } catch (error) {
      throw error instanceof TooManyBytesError ? tooLarge(this.#maxBytes) : error;
    }
  }
}
