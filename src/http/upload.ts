import type { IncomingMessage } from 'node:http';
import { watchArrival, type ArrivalLimits } from './wire/arrival.js';
import type { BodyBytes } from './wire/body-memory.js';
import { BodyPieces } from './wire/body-pieces.js';
import { ClientGoneError, ProtocolError } from './errors.js';

/**
 * The bytes of a body, counted as they arrive.
 * @throws DomainError `too_large`, `overloaded`; ProtocolError 408; ClientGoneError. Nothing more is read then.
 */
export function receiveBody(
  request: IncomingMessage,
  limits: ArrivalLimits,
  maxBytes: number,
  held: BodyBytes,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces = new BodyPieces(maxBytes, held);
    const onData = (piece: Buffer) => {
      try {
        pieces.add(piece);
      } catch (error) {
        finish(error as Error);
      }
    };
    const onEnd = () => finish();
    const onGone = () => finish(new ClientGoneError());
    const finish = (error?: Error) => {
      stopWatch();
      request.off('data', onData).off('end', onEnd).off('close', onGone);
      if (error === undefined) {
        resolve(pieces.joined());
      } else {
        // Bytes that arrive from now on are not kept: see `lingerUntilSent`.
        request.pause();
        reject(error);
      }
      // The listener that stays would keep them for as long as the request is in work, beside the body made of them.
      pieces.drop();
    };
    const stopWatch = watchArrival(limits, {
      arrived: () => pieces.length,
      expected: () => Number(request.headers['content-length'] ?? Infinity),
      giveUp: (why) => finish(new ProtocolError(408, why)),
    });
    // Stays: a connection that breaks later must not become an unhandled error.
    request.on('error', onGone);
    request.on('data', onData).on('end', onEnd).on('close', onGone);
  });
}
