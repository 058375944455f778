import { Readable } from 'node:stream';
import type { ServerInterceptor } from '@grpc/grpc-js';

type Call = Parameters<ServerInterceptor>[1];

/** Names of private fields of the library's call objects. */
const STREAM = 'stream';
const ENCODING = 'incomingEncoding';
const UNFOLDABLE = new Set(['gzip', 'deflate']);
/** Before each message: one byte that says whether it is compressed, then its length. */
const PREFIX_BYTES = 5;

/**
 * The message of a call while it arrives. The library hands a message over when it is whole and unfolded, and takes as much
 * memory as that needs without asking; so its bytes are counted on the stream beneath, and unfolding is left to us.
 */
export class CallIntake {
  /** How the message is compressed, `gzip` or `deflate`; null: as the library hands it over. */
  readonly #encoding: string | null;
  #arrived = 0;
  readonly #prefix = Buffer.alloc(PREFIX_BYTES);

  /** @param onBytes told of every piece that arrives @throws Error when the library has changed */
  constructor(call: Call, onBytes: (bytes: number) => void) {
    const stream: unknown = Reflect.get(call, STREAM);
    const encoding: unknown = Reflect.get(call, ENCODING);
    if (!(stream instanceof Readable) || typeof encoding !== 'string')
      throw new Error('This version of @grpc/grpc-js keeps the stream of a call elsewhere');
    this.#encoding = UNFOLDABLE.has(encoding) ? encoding : null;
    if (this.#encoding !== null) Reflect.set(call, ENCODING, 'identity');
    stream.on('data', (chunk: Buffer) => {
      if (this.#arrived < PREFIX_BYTES) chunk.copy(this.#prefix, this.#arrived);
      this.#arrived += chunk.length;
      onBytes(chunk.length);
    });
  }

  arrived(): number {
    return this.#arrived;
  }

  /** Bytes of the whole message, once it has said so. */
  expected(): number {
    return this.#arrived < PREFIX_BYTES ? Infinity : PREFIX_BYTES + this.#prefix.readUInt32BE(1);
  }

  /** Encoding of the message that arrived; null: not compressed. */
  compression(): string | null {
    return this.#prefix[0] === 1 ? this.#encoding : null;
  }
}
