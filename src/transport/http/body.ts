import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gunzip, inflate, inflateRaw } from 'node:zlib';
import { DomainError } from '../../domain/errors.js';
import { ClientGoneError, ProtocolError } from './errors.js';

export interface BodyLimits {
  /** Of one body, as sent and after decompression. */
  readonly maxBodyBytes: number;
  /** Of all bodies in work together: what keeps many large uploads from filling the memory. */
  readonly maxBytesInWork: number;
  /** A body must be there this long after its headers. */
  readonly readTimeoutMs: number;
}

/** A body that was read. `release` once the request is answered. */
export interface ReadBody {
  readonly bytes: Buffer;
  /** Lower case, without parameters. */
  readonly mediaType: string;
  release(): void;
}

export type BodyReader = (
  request: IncomingMessage,
  response: ServerResponse,
  contentTypes: readonly string[],
  /** Default: that of the limits. */
  maxBytes?: number,
) => Promise<ReadBody>;

type Inflater = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;
const inflaters = {
  gzip: promisify(gunzip) as Inflater,
  zlib: promisify(inflate) as Inflater,
  raw: promisify(inflateRaw) as Inflater,
};

const ENCODINGS = new Set(['identity', 'gzip', 'x-gzip', 'deflate']);

/**
 * Reads bodies within limits. What can be refused by its headers is refused before a byte is read.
 * @throws (from the reader) DomainError `unsupported_media`, `too_large`, `malformed`, `overloaded`; ProtocolError 408; ClientGoneError
 */
export function createBodyReader(limits: BodyLimits): BodyReader {
  let inWork = 0;
  return async (request, response, contentTypes, maxBodyBytes = limits.maxBodyBytes) => {
    const mediaType = acceptedMediaType(request, contentTypes);
    const encoding = acceptedEncoding(request);
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > maxBodyBytes) throw tooLarge(maxBodyBytes);

    let held = 0;
    const hold = (bytes: number) => {
      if (inWork + bytes > limits.maxBytesInWork)
        throw new DomainError('overloaded', 'Too many request bodies are in work', { retryAfterSeconds: 1 });
      inWork += bytes;
      held += bytes;
    };
    const release = () => {
      inWork -= held;
      held = 0;
    };
    try {
      if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
      const sent = await receive(request, { ...limits, maxBodyBytes }, hold);
      const bytes = encoding === 'identity' ? sent : await decompress(sent, encoding, maxBodyBytes);
      if (bytes !== sent) hold(bytes.length);
      return { bytes, mediaType, release };
    } catch (error) {
      release();
      throw error;
    }
  };
}

function acceptedMediaType(request: IncomingMessage, contentTypes: readonly string[]): string {
  const header = request.headers['content-type'];
  const mediaType = header?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (!contentTypes.includes(mediaType)) {
    throw new DomainError('unsupported_media', `The Content-Type must be ${contentTypes.join(' or ')}`);
  }
  const charset = /;\s*charset\s*=\s*"?([^";\s]+)/i.exec(header ?? '')?.[1]?.toLowerCase();
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8' && charset !== 'us-ascii') {
    throw new DomainError('unsupported_media', 'The charset must be utf-8');
  }
  return mediaType;
}

function acceptedEncoding(request: IncomingMessage): string {
  const encoding = request.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  if (!ENCODINGS.has(encoding))
    throw new DomainError('unsupported_media', 'The Content-Encoding must be gzip, deflate or identity');
  return encoding;
}

function receive(request: IncomingMessage, limits: BodyLimits, hold: (bytes: number) => void): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const timer = setTimeout(() => {
      finish(new ProtocolError(408, `The body did not arrive within ${Math.ceil(limits.readTimeoutMs / 1000)} s`));
    }, limits.readTimeoutMs);
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > limits.maxBodyBytes) throw tooLarge(limits.maxBodyBytes);
        hold(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        finish(error as Error);
      }
    };
    const onEnd = () => finish();
    const onGone = () => finish(new ClientGoneError());
    const finish = (error?: Error) => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('close', onGone);
      if (error === undefined) {
        resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks, length));
      } else {
        // What comes now is not kept: see `lingerUntilSent`.
        request.pause();
        reject(error);
      }
    };
    // Stays: a connection that breaks later must not become an unhandled error.
    request.on('error', onGone);
    request.on('data', onData).on('end', onEnd).on('close', onGone);
  });
}

async function decompress(bytes: Buffer, encoding: string, maxOutputLength: number): Promise<Buffer> {
  const format = encoding !== 'deflate' ? 'gzip' : hasZlibHeader(bytes) ? 'zlib' : 'raw';
  try {
    return await inflaters[format](bytes, { maxOutputLength });
  } catch (error) {
    // zlib stops at the limit: a bomb never unfolds further than that.
    if (error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw tooLarge(maxOutputLength);
    throw new DomainError('malformed', `The body is not valid ${encoding}`, { cause: error });
  }
}

/** Clients send both zlib (as the standard says) and bare deflate under this name. */
function hasZlibHeader(bytes: Buffer): boolean {
  return bytes.length >= 2 && ((bytes[0] ?? 0) & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}

function tooLarge(maxBodyBytes: number): DomainError {
  return new DomainError('too_large', `The body must have at most ${maxBodyBytes} bytes, also after decompression`);
}

const LINGER_MS = 5_000;
const LINGER_BYTES = 16 * 1024 * 1024;

/**
 * For an answer given before the body was read: the rest is read and thrown away for a while, because a connection
 * closed under an upload takes the answer with it; then the connection is closed.
 */
export function lingerUntilSent(request: IncomingMessage, response: ServerResponse): void {
  response.once('finish', () => {
    const { socket } = request;
    if (request.complete || socket.destroyed) return;
    request.resume();
    const until = Date.now() + LINGER_MS;
    const enough = socket.bytesRead + LINGER_BYTES;
    const timer = setInterval(() => {
      const over = Date.now() > until || socket.bytesRead > enough;
      if (over && !request.complete) socket.destroy();
      if (over || request.complete || socket.destroyed) clearInterval(timer);
    }, 100);
    timer.unref();
  });
}
