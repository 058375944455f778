import type { IncomingMessage, ServerResponse } from 'node:http';
import { DomainError } from '../engine/errors.js';
import type { ArrivalLimits } from './wire/arrival.js';
import type { BodyBytes } from './wire/body-memory.js';
import { tooLarge } from './wire/body-pieces.js';
import { unfold, UNFOLDED } from './wire/unfold.js';
import { receiveBody } from './upload.js';

export interface BodyLimits extends ArrivalLimits {
  /** Largest body, as sent and after decompression. */
  readonly maxBodyBytes: number;
}

/** A body that was read. */
export interface ReadBody {
  readonly bytes: Buffer;
  /** Lower case, without parameters. */
  readonly mediaType: string;
}

export type BodyReader = (
  request: IncomingMessage,
  response: ServerResponse,
  /** Content types and size that the route accepts. `maxBytes` default: that of the limits. */
  accepted: { readonly contentTypes: readonly string[]; readonly maxBytes?: number },
  /** Memory counted for the body; the caller releases it once the request is answered, or refused. */
  held: BodyBytes,
) => Promise<ReadBody>;

const ENCODINGS = new Set(['identity', ...UNFOLDED]);

/**
 * Reads bodies within limits. What can be refused by its headers is refused before a byte is read.
 * @throws (from the reader) DomainError `unsupported_media`, `too_large`, `malformed`, `overloaded`; ProtocolError 408; ClientGoneError
 */
export function createBodyReader(limits: BodyLimits): BodyReader {
  return async (request, response, { contentTypes, maxBytes = limits.maxBodyBytes }, held) => {
    const mediaType = acceptedMediaType(request, contentTypes);
    const encoding = acceptedEncoding(request);
    const declared = Number(request.headers['content-length'] ?? 0);
    if (declared > maxBytes) throw tooLarge(maxBytes);
    if (request.headers.expect?.toLowerCase() === '100-continue') response.writeContinue();
    const sent = await receiveBody(request, limits, maxBytes, held);
    const bytes = encoding === 'identity' ? sent : await unfold(sent, encoding, maxBytes, held);
    return { bytes, mediaType };
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
    throw new DomainError('unsupported_media', `The Content-Encoding must be ${UNFOLDED.join(', ')} or identity`);
  return encoding;
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
