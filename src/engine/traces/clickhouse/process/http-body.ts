import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { EngineError } from './engine-error.js';

const unzip = promisify(gunzip);

/** Longest body taken, also after decompression. */
const MAX_BODY_BYTES = 256 * 1024 * 1024;

/** A request's body in one Buffer: written straight into its place when the length is known. */
export async function readBody(request: IncomingMessage): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (declared > MAX_BODY_BYTES) throw await tooLarge(request);
  const body = Number.isInteger(declared) ? await readKnown(request, declared) : await readChunks(request);
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return body;
  if (encoding !== 'gzip')
    throw EngineError.of(48, `Content-Encoding ${encoding} is not supported.`, 'NOT_IMPLEMENTED');
  try {
    return await unzip(body, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    throw new EngineError(354, `Code: 354. DB::Exception: inflate failed: ${String(error)} (ZLIB_INFLATE_FAILED)`, {
      cause: error,
    });
  }
}

async function readKnown(request: IncomingMessage, length: number): Promise<Buffer> {
  const body = Buffer.allocUnsafe(length);
  let at = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) at += chunk.copy(body, at);
  return body;
}

async function readChunks(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
    else chunks.length = 0;
  }
  if (length > MAX_BODY_BYTES) throw await tooLarge(request);
  return Buffer.concat(chunks, length);
}

/** The error for a body that is too long, after its rest was read: an answer during an upload can be lost with it. */
async function tooLarge(request: IncomingMessage): Promise<EngineError> {
  if (!request.readableEnded) await finished(request.resume());
  return EngineError.of(307, `The body is longer than ${MAX_BODY_BYTES} bytes.`, 'TOO_MANY_BYTES');
}
