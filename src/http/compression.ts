import type { IncomingMessage } from 'node:http';
import { Readable, type Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import Negotiator from 'negotiator';

/** Less travels in a packet or two anyway. */
export const COMPRESSED_FROM_BYTES = 4096;

export type AnswerEncoding = 'zstd' | 'gzip';

/** Node.js before 22.15 has no zstd. */
const OFFERED: readonly AnswerEncoding[] = 'createZstdCompress' in zlib ? ['zstd', 'gzip'] : ['gzip'];
/** Quick rather than small: an answer is made once and read once. */
const GZIP_LEVEL = 3;

/** Headers that proxies add: behind one, the client may be far away. */
const OF_PROXIES = ['forwarded', 'x-forwarded-for', 'via'];

/**
 * How to compress an answer; null: not at all. HTTP libraries ask for it without being told to, so what would cost more than
 * it saves is left: answers to clients on this machine, and to writes whose bodies the client did not compress either.
 */
export function answerEncoding(request: IncomingMessage, contentType: string): AnswerEncoding | null {
  const { method, headers } = request;
  if (method === 'HEAD' || headers['accept-encoding'] === undefined) return null;
  if (!contentType.startsWith('application/json')) return null;
  if (method !== 'GET' && headers['content-encoding'] === undefined) return null;
  if (isLocal(request)) return null;
  const wanted = new Negotiator(request).encoding([...OFFERED, 'identity']);
  return OFFERED.find((encoding) => encoding === wanted) ?? null;
}

function isLocal({ headers, socket }: IncomingMessage): boolean {
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:/i, '');
  if (address !== '::1' && !address.startsWith('127.')) return false;
  return OF_PROXIES.every((name) => headers[name] === undefined);
}

export function compressor(encoding: AnswerEncoding): Transform {
  return encoding === 'gzip' ? zlib.createGzip({ level: GZIP_LEVEL }) : zlib.createZstdCompress();
}

/**
 * The bytes of a source that ends before it is worth compressing, or else a source with the same bytes.
 * @throws what the source fails with, before it comes to that
 */
export async function smallOrStream(source: Readable): Promise<Buffer | Readable> {
  const chunks: Buffer[] = [];
  let length = 0;
  const rest = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  while (length < COMPRESSED_FROM_BYTES) {
    const next = await rest.next();
    if (next.done === true) return Buffer.concat(chunks, length);
    chunks.push(next.value);
    length += next.value.length;
  }
  return Readable.from(joined(chunks, rest), { objectMode: false });
}

async function* joined(chunks: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* chunks;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    // A client that leaves ends the source, too.
    await rest.return?.();
  }
}
